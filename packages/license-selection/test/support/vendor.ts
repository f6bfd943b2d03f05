import { generateKeyPairSync, type KeyObject, sign } from "node:crypto";

/** Makes licenses and signs them with a key of its own, as the vendor does with his. */
export interface Vendor {
  readonly publicKey: KeyObject;
  /** The base64 text of a signature over fields in their order. */
  signature(fields: object, version?: number): string;
}

/** A vendor with a new key. */
export function makeVendor(): Vendor {
  const { publicKey, privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  return {
    publicKey,
    signature: (fields, version = 4) =>
      envelopeText(version, sign("RSA-SHA512", Buffer.from(JSON.stringify(fields)), privateKey)),
  };
}

/** Any bytes in the envelope of a signature. */
export function envelopeText(version: number, signature: Buffer): string {
  const block = (content: Buffer): Buffer => Buffer.concat([int32(content.length), content]);
  return Buffer.concat([
    int32(version),
    block(Buffer.alloc(13, 7)),
    block(Buffer.alloc(32, 9)),
    block(signature),
  ]).toString("base64");
}

/** Four bytes, big end first. */
export function int32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
}

/** A file as the vendor delivers it, every signature genuine. */
export function vendorFile(vendor: Vendor, issuedTo = "Müller & <Söhne>"): object {
  const dates = {
    issue_date_in_millis: 1_700_000_000_000,
    expiry_date_in_millis: 1_900_000_000_999,
    start_date_in_millis: 1_700_000_000_000,
  };
  const outer = {
    uid: "outer-uid",
    type: "enterprise",
    issue_date_in_millis: dates.issue_date_in_millis,
    start_date_in_millis: dates.start_date_in_millis,
    expiry_date_in_millis: dates.expiry_date_in_millis,
    max_instances: 10,
    issued_to: issuedTo,
    issuer: "API",
  };
  const nested = ["platinum", "gold"].map((type) => {
    const signed = {
      uid: `${type}-uid`,
      type,
      issue_date_in_millis: dates.issue_date_in_millis,
      expiry_date_in_millis: dates.expiry_date_in_millis,
      max_nodes: 100,
      issued_to: issuedTo,
      issuer: "API",
      start_date_in_millis: dates.start_date_in_millis,
    };
    return {
      license: { ...signed, signature: vendor.signature(signed), status: "active", max_resource_units: null },
    };
  });
  return {
    license: {
      ...outer,
      signature: vendor.signature(outer, 3),
      issue_date: "2023-11-14T22:13:20.000Z",
      cluster_licenses: nested,
    },
    note: "kept",
  };
}
