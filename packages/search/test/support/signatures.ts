/** Text in a signature that the fake engine takes for the vendor's; the vendor's key is not to be had. */
const vendorsSignature = "signed by the vendor";

/** A well-formed signature: the fake engine accepts it, or finds it wrong. */
export function aSignature({ isVendors = true }: { readonly isVendors?: boolean } = {}): string {
  const block = (text: string): Buffer => {
    const length = Buffer.alloc(4);
    length.writeInt32BE(text.length);
    return Buffer.concat([length, Buffer.from(text)]);
  };
  const version = Buffer.alloc(4);
  version.writeInt32BE(4);
  const signed = isVendors ? vendorsSignature : "canary of another client else";
  return Buffer.concat([version, block("magic"), block("fingerprint"), block(signed)]).toString("base64");
}
