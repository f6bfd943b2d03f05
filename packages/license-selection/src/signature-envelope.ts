/** A signature of a licence, taken apart. */
export interface SignatureEnvelope {
  /** Version of the licence format; decides which fields are signed. */
  readonly version: number;
  /** Names the key that signed. */
  readonly fingerprint: Uint8Array;
  readonly signature: Uint8Array;
}

/** Characters of the longest signature that is read; real ones have about 1,000. */
export const longestSignature: number = 64 * 1024;

const newestVersion = 99;

/**
 * Takes the base64 text of a signature apart. Undefined for whatever is not exactly one: too long, truncated, with lengths that do
 * not add up, or self-generated, which no server accepts from outside.
 */
export function readSignatureEnvelope(text: string): SignatureEnvelope | undefined {
  if (text.length > longestSignature || !/^[A-Za-z0-9+/]+={0,2}$/.test(text)) return undefined;
  return readBytes(Buffer.from(text, "base64"));
}

function readBytes(bytes: Buffer): SignatureEnvelope | undefined {
  const version = bytes.length < 4 ? 0 : bytes.readInt32BE(0);
  if (version < 1 || version > newestVersion) return undefined;
  const magic = blockAt(bytes, 4);
  const fingerprint = magic && blockAt(bytes, magic.end);
  const signature = fingerprint && blockAt(bytes, fingerprint.end);
  const isWhole = signature?.end === bytes.length && signature.content.length > 0;
  return fingerprint !== undefined && isWhole
    ? { version, fingerprint: fingerprint.content, signature: signature.content }
    : undefined;
}

interface Block {
  readonly content: Uint8Array;
  readonly end: number;
}

/** A length of four bytes and as many bytes. Nothing is allocated by the length: it has to fit into what is there. */
function blockAt(bytes: Buffer, at: number): Block | undefined {
  if (at + 4 > bytes.length) return undefined;
  const length = bytes.readInt32BE(at);
  const end = at + 4 + length;
  return length < 0 || end > bytes.length ? undefined : { content: bytes.subarray(at + 4, end), end };
}
