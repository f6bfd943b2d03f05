import * as asn1js from "asn1js";
import * as pkijs from "pkijs";

/** Whom a certificate is about. */
export interface Subject {
  readonly commonName: string;
  /** O; the groups of a user, for the API server. */
  readonly organizations?: readonly string[];
  /** OU. */
  readonly organizationalUnits?: readonly string[];
}

/** The name as it stands in a certificate: O, OU, CN, from the general to the special. */
export function subjectName({
  commonName,
  organizations = [],
  organizationalUnits = [],
}: Subject): pkijs.RelativeDistinguishedNames {
  const attributes = [
    ...organizations.map((value) => attribute(organization, value)),
    ...organizationalUnits.map((value) => attribute(organizationalUnit, value)),
    attribute(common, commonName),
  ];
  // Each attribute in a set of its own. pkijs would put all of them into one, which reads CN=admin+O=example and is another name.
  const sets = attributes.map((each) => new asn1js.Set({ value: [each.toSchema()] }));
  return pkijs.RelativeDistinguishedNames.fromBER(new asn1js.Sequence({ value: sets }).toBER());
}

/** The subject in a name; attributes that we do not know are left out. */
export function readSubject({ typesAndValues }: pkijs.RelativeDistinguishedNames): Subject {
  const valuesOf = (type: string): readonly string[] =>
    typesAndValues.filter((each) => each.type === type).map(({ value }) => textOf(value));
  const [organizations, organizationalUnits] = [valuesOf(organization), valuesOf(organizationalUnit)];
  return {
    commonName: valuesOf(common).at(-1) ?? "",
    ...(organizations.length === 0 ? {} : { organizations }),
    ...(organizationalUnits.length === 0 ? {} : { organizationalUnits }),
  };
}

/**
 * The subject as text of RFC 2253, e.g. `CN=admin,OU=search,O=example`: the form in which OpenSearch and Java compare
 * the names of administrators and nodes.
 */
export function distinguishedName({
  commonName,
  organizations = [],
  organizationalUnits = [],
}: Subject): string {
  const parts = [
    ...organizations.map((value) => ["O", value] as const),
    ...organizationalUnits.map((value) => ["OU", value] as const),
    ["CN", commonName] as const,
  ];
  return parts
    .toReversed()
    .map(([name, value]) => `${name}=${escaped(value)}`)
    .join(",");
}

/** Whether two subjects are the same, the order of O and of OU included. */
export function isSameSubject(one: Subject, other: Subject): boolean {
  return distinguishedName(one) === distinguishedName(other);
}

const common = "2.5.4.3";
const organization = "2.5.4.10";
const organizationalUnit = "2.5.4.11";

/** OpenSSL's maximum for each of them; clients refuse a longer one. */
const lengthLimit = 64;

function attribute(type: string, text: string): pkijs.AttributeTypeAndValue {
  if (text === "" || text.length > lengthLimit) {
    throw new RangeError(`"${text}" in a subject does not have 1 to ${lengthLimit} characters`);
  }
  return new pkijs.AttributeTypeAndValue({ type, value: new asn1js.Utf8String({ value: text }) });
}

function textOf(value: pkijs.AttributeTypeAndValue["value"]): string {
  const inner: unknown = value.valueBlock.value;
  return typeof inner === "string" ? inner : "";
}

function escaped(value: string): string {
  return value.replaceAll(/[,+"\\<>;]/g, "\\$&").replaceAll(/^[# ]| $/g, "\\$&");
}
