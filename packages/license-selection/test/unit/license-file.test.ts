import { Buffer } from "node:buffer";

import {
  clusterLicense,
  type ClusterLicense,
  type EnterpriseLicense,
  enterpriseLicense,
} from "@quartermaster/api/licensing";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";

import {
  exportLicense,
  importLicense,
  isEnterpriseSigned,
  isStackSigned,
  licenseUpload,
  readLicenseFile,
  readSignature,
  readSignatureEnvelope,
  type ReadableLicenseFile,
  signatureData,
  type SignatureRead,
  type SignatureSecret,
  stackCandidate,
} from "../../src/index.ts";
import { envelopeText, int32, makeVendor, vendorFile } from "../support/vendor.ts";

const vendor = makeVendor();
const location = { name: "pool", namespace: "licenses" };

function readable(file: object): ReadableLicenseFile {
  const read = readLicenseFile(JSON.stringify(file));
  if (read.kind === "unreadable") throw new Error(read.message);
  return read;
}

interface Imported {
  readonly spec: EnterpriseLicense["spec"];
  readonly data: Readonly<Record<string, string>>;
}

function imported(file: object): Imported {
  const { license, secret } = importLicense(readable(file), location);
  return {
    spec: license["spec"] as EnterpriseLicense["spec"],
    data: secret["stringData"] as Record<string, string>,
  };
}

/** As the API server returns it. */
function secretOf(
  data: Readonly<Record<string, string>>,
  type = "license.k8s.elastic.co/signature",
): SignatureSecret {
  const encoded = Object.entries(data).map(([key, text]) => [key, Buffer.from(text).toString("base64")]);
  return { type, data: Object.fromEntries(encoded) as Record<string, string> };
}

function outerSignature({ spec, data }: Imported): SignatureRead {
  return readSignature({ ref: spec.signatureRef, namespace: "licenses", secret: secretOf(data) });
}

describe("a vendor's file", () => {
  test("[licensing/R1] imported and exported is the same JSON", () => {
    const file = vendorFile(vendor);
    const { spec, data } = imported(file);
    expect(exportLicense({ kind: "EnterpriseLicense", spec }, data)).toEqual(file);
  });

  test("[licensing/R1] with one license for a cluster, too", () => {
    const [first] = (vendorFile(vendor) as { license: { cluster_licenses: [object] } }).license
      .cluster_licenses;
    const { license, secret } = importLicense(readable(first), location);
    const spec = license["spec"] as ClusterLicense["spec"];
    const data = secret["stringData"] as Record<string, string>;
    expect(exportLicense({ kind: "ClusterLicense", spec }, data)).toEqual(first);
    expect(clusterLicense.check(license)).toEqual([]);
  });

  test("becomes objects that the kinds accept, with signatures in the Secret alone", () => {
    const { license, secret } = importLicense(readable(vendorFile(vendor)), location);
    expect(enterpriseLicense.check(license)).toEqual([]);
    const signatures = secret["stringData"] as Record<string, string>;
    expect(Object.keys(signatures)).toEqual(["outer", "platinum-uid", "gold-uid", "remainder"]);
    for (const [key, text] of Object.entries(signatures))
      expect(key === "remainder" || !JSON.stringify(license).includes(text)).toBe(true);
    expect(signatures["remainder"]).not.toContain("signature");
  });

  test("[security/61] of hostile types is refused with every field in fault", () => {
    const read = readLicenseFile(
      '{"license":{"uid":"__proto__","type":["platinum"],"expiry_date_in_millis":1e309,"issue_date_in_millis":-1,"max_nodes":9007199254740993,"issuer":"","signature":"x"}}',
    );
    expect(read).toMatchObject({ kind: "unreadable" });
    const message = read.kind === "unreadable" ? read.message : "";
    for (const field of [
      "type",
      "expiry_date_in_millis",
      "issue_date_in_millis",
      "max_nodes",
      "issuer",
      "issued_to",
    ])
      expect(message).toContain(`license.${field}`);
  });

  test("is read or refused, and never throws, whatever the text is", () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.json(),
          fc.jsonValue().map((json) => JSON.stringify({ license: json })),
        ),
        (text) => {
          expect(readLicenseFile(text)).toHaveProperty("kind");
        },
      ),
      { numRuns: 2000 },
    );
    expect(readLicenseFile("[".repeat(100_000))).toMatchObject({ kind: "unreadable" });
    expect(readLicenseFile(`{"license":"${"x".repeat(600_000)}"}`)).toMatchObject({ kind: "unreadable" });
  });
});

describe("a signature", () => {
  test("[licensing/N6] verifies with & < > in the name of the holder", () => {
    const whole = imported(vendorFile(vendor));
    expect(isEnterpriseSigned(whole.spec, outerSignature(whole), vendor.publicKey)).toBe(true);
  });

  test("verifies with U+2028 in the name, as other signers escape it and as they do not", () => {
    const whole = imported(vendorFile(vendor, "a\u2028b"));
    expect(isEnterpriseSigned(whole.spec, outerSignature(whole), vendor.publicKey)).toBe(true);
  });

  test.each([
    { name: "another amount", change: { maxInstances: 11 } },
    { name: "another end", change: { expiryDate: 1_900_000_001_000 } },
    { name: "another holder", change: { issuedTo: "Mallory" } },
  ])("does not verify with $name", ({ change }) => {
    const whole = imported(vendorFile(vendor));
    const spec = { ...whole.spec, ...change };
    expect(isEnterpriseSigned(spec, outerSignature(whole), vendor.publicKey)).toBe(false);
  });

  test("[licensing/N7] of a nested license shows that it was changed", () => {
    const { spec, data } = imported(vendorFile(vendor));
    const [nested] = spec.clusterLicenses ?? [];
    if (nested === undefined) throw new Error("nothing nested");
    const { signatureRef: _, ...plain } = nested;
    const ref = { name: "s", key: nested.uid };
    const signature = readSignature({ ref, namespace: "licenses", secret: secretOf(data) });
    const license = { spec: plain, source: "", signature };
    expect(isStackSigned(license, vendor.publicKey)).toBe(true);
    expect(isStackSigned({ ...license, spec: { ...plain, maxNodes: 1000 } }, vendor.publicKey)).toBe(false);
    expect(licenseUpload(license)).toMatchObject({
      licenses: [{ uid: "platinum-uid", type: "platinum", max_nodes: 100, signature: data["platinum-uid"] }],
    });
  });

  test.each([
    { version: -1, isRead: false },
    { version: 0, isRead: false },
    { version: 1, isRead: true },
    { version: 99, isRead: true },
    { version: 100, isRead: false },
  ])("of version $version is read: $isRead", ({ version, isRead }) => {
    const envelope = readSignatureEnvelope(envelopeText(version, Buffer.alloc(256, 1)));
    expect(envelope?.version).toBe(isRead ? version : undefined);
  });

  const whole = Buffer.from(envelopeText(4, Buffer.alloc(256, 1)), "base64");
  const changed = (at: number, value: number): string =>
    Buffer.concat([whole.subarray(0, at), int32(value), whole.subarray(at + 4)]).toString("base64");

  test.each([
    { name: "nothing", text: "" },
    { name: "no base64", text: "päßwörd" },
    { name: "version 0", text: changed(0, 0) },
    { name: "self-generated", text: changed(0, -4) },
    { name: "a version no one knows", text: changed(0, 1_000_000) },
    { name: "a huge length", text: changed(4, 0x7f_ff_ff_ff) },
    { name: "a negative length", text: changed(4, -1) },
    { name: "truncated", text: whole.subarray(0, 200).toString("base64") },
    { name: "with bytes behind it", text: Buffer.concat([whole, int32(0)]).toString("base64") },
    { name: "10 MB", text: "A".repeat(10_000_000) },
    { name: "a token of a service account", text: "eyJhbGciOiJSUzI1NiJ9.e30.c2ln" },
  ])("[security/60] $name is not one", ({ text }) => {
    expect(readSignatureEnvelope(text)).toBeUndefined();
  });

  test("is read whole or not at all, whatever the bytes are", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        const envelope = readSignatureEnvelope(Buffer.from(bytes).toString("base64"));
        expect(envelope === undefined || envelope.signature.length > 0).toBe(true);
      }),
      { numRuns: 2000 },
    );
  });
});

describe("the Secret of a signature", () => {
  const text = envelopeText(4, Buffer.alloc(256, 1));
  const read = (ref: object, secret: SignatureSecret | undefined): SignatureRead =>
    readSignature({ ref: { name: "sig", ...ref }, namespace: "team", secret });

  test.each([
    { name: "one key", ref: {}, data: { sig: text }, want: { kind: "found" } },
    { name: "one key and maxNodes", ref: {}, data: { sig: text, maxNodes: "12" }, want: { maxNodes: 12 } },
    {
      name: "[licensing/P15] two keys without a name",
      ref: {},
      data: { a: text, b: text },
      want: { problem: "SignatureAmbiguous" },
    },
    {
      name: "[licensing/P15] two keys with a name",
      ref: { key: "b" },
      data: { a: text, b: text },
      want: { kind: "found" },
    },
    { name: "another key", ref: { key: "c" }, data: { a: text }, want: { problem: "SignatureMissing" } },
    {
      name: "a key of the prototype",
      ref: { key: "constructor" },
      data: { a: text },
      want: { problem: "SignatureMissing" },
    },
    { name: "no key", ref: {}, data: {}, want: { problem: "SignatureMissing" } },
    { name: "something else", ref: {}, data: { a: "hello" }, want: { problem: "SignatureInvalid" } },
    { name: "in its own namespace", ref: { namespace: "team" }, data: { a: text }, want: { kind: "found" } },
    {
      name: "in another namespace",
      ref: { namespace: "kube-system" },
      data: { a: text },
      want: { problem: "Malformed" },
    },
  ])("$name", ({ ref, data, want }) => {
    expect(read(ref, secretOf(data as Record<string, string>))).toMatchObject(want);
  });

  test("[security/56] of a type that another program owns is not looked into, and what it holds is not shown", () => {
    const token = secretOf({ token: text }, "kubernetes.io/service-account-token");
    const decision = read({}, token);
    expect(decision).toMatchObject({ kind: "fault", problem: "SignatureMissing" });
    expect(JSON.stringify(decision)).not.toContain(text);
  });

  test("[licensing/N-opaque] of type Opaque is as good", () => {
    expect(read({}, secretOf({ signature: text }, "Opaque"))).toMatchObject({ kind: "found", text });
  });

  test.each([
    { name: "no key", data: {} },
    { name: "several keys", data: { user: "a", password: "b" } },
    { name: "another key than the license names", data: { password: "b" }, ref: { key: "signature" } },
    { name: "something else under the key", data: { password: "b" }, ref: { key: "password" } },
  ])("[security/56] an Opaque one with $name has one message for all of them", ({ data, ref = {} }) => {
    expect(read(ref, secretOf(data, "Opaque"))).toEqual({
      kind: "fault",
      problem: "SignatureMissing",
      message: "Secret sig has no signature of a license, or not under the key",
    });
  });

  test("[security/56] of another type keeps nothing in memory but signatures", () => {
    const data = { signature: text, maxNodes: "3", password: "hunter2", remainder: "{}" };
    expect(Object.keys(signatureData(secretOf(data, "Opaque")))).toEqual([
      "signature",
      "maxNodes",
      "remainder",
    ]);
    expect(Object.keys(signatureData(secretOf(data)))).toEqual(Object.keys(data));
  });

  test("that does not exist", () => {
    expect(read({}, undefined)).toMatchObject({ problem: "SignatureMissing" });
  });
});

describe("a license without maxNodes", () => {
  const spec = {
    uid: "u",
    type: "standard" as const,
    issueDate: 1_411_948_800_000,
    expiryDate: 1_914_278_399_999,
    issuedTo: "issuedTo",
    issuer: "issuer",
  };
  const text = envelopeText(4, Buffer.alloc(256, 1));
  const problemWith = (data: Readonly<Record<string, string>>): string | undefined => {
    const signature = readSignature({ ref: { name: "s" }, namespace: "team", secret: secretOf(data) });
    return stackCandidate({ spec, source: "", signature }).problem;
  };

  test("[licensing/N-seed] is Malformed only if the Secret does not say it either", () => {
    expect(problemWith({ sig: text })).toBe("Malformed");
    expect(problemWith({ sig: text, maxNodes: "3" })).toBeUndefined();
  });
});
