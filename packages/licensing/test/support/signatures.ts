import { createHash, generateKeyPairSync, type KeyObject, sign } from "node:crypto";

/** A well-formed signature that no vendor made; another one for each uid. */
export function signatureText(uid: string): string {
  return envelopeText(
    Buffer.concat(Array.from({ length: 4 }, () => createHash("sha512").update(uid).digest())),
  );
}

/** A vendor with a new key, whose signatures verify. */
export function makeVendor(): {
  readonly publicKey: KeyObject;
  /** Signature over fields in their order. */
  readonly signature: (fields: object) => string;
} {
  const { publicKey, privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  return {
    publicKey,
    signature: (fields) => envelopeText(sign("RSA-SHA512", Buffer.from(JSON.stringify(fields)), privateKey)),
  };
}

function envelopeText(signature: Buffer): string {
  const block = (content: Buffer): Buffer => {
    const length = Buffer.alloc(4);
    length.writeInt32BE(content.length);
    return Buffer.concat([length, content]);
  };
  const version = Buffer.alloc(4);
  version.writeInt32BE(4);
  return Buffer.concat([
    version,
    block(Buffer.alloc(13, 1)),
    block(Buffer.alloc(32, 2)),
    block(signature),
  ]).toString("base64");
}
