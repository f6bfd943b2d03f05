import { createHash } from "node:crypto";

/** A well-formed signature that no vendor made; another one for each uid. */
export function signatureText(uid: string): string {
  const block = (content: Buffer): Buffer => {
    const length = Buffer.alloc(4);
    length.writeInt32BE(content.length);
    return Buffer.concat([length, content]);
  };
  const version = Buffer.alloc(4);
  version.writeInt32BE(4);
  const signature = Buffer.concat(Array.from({ length: 4 }, () => createHash("sha512").update(uid).digest()));
  return Buffer.concat([
    version,
    block(Buffer.alloc(13, 1)),
    block(Buffer.alloc(32, 2)),
    block(signature),
  ]).toString("base64");
}
