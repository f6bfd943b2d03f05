import { randomBytes } from "node:crypto";

/** A value that must never leave the place it was put into. */
export interface Canary {
  readonly value: string;
  /** The forms of the value found in the text, e.g. `base64`; empty when it did not leak. */
  leaksIn(text: string): readonly string[];
}

/** A fresh random value; two canaries never share a part. */
export function hatchCanary(): Canary {
  const value = `canary/${randomBytes(32).toString("base64")}`;
  const forms = formsOf(value);
  return {
    value,
    leaksIn: (text) => forms.filter(({ needle }) => text.includes(needle)).map(({ form }) => form),
  };
}

/** Ends of base64 depend on what follows, so only the part that is fixed is looked for. */
function formsOf(value: string): readonly { readonly form: string; readonly needle: string }[] {
  const bytes = Buffer.from(value);
  return [
    { form: "plain", needle: value },
    { form: "first 12 characters", needle: value.slice(7, 19) },
    { form: "last 12 characters", needle: value.slice(-12) },
    { form: "base64", needle: bytes.toString("base64").replace(/=+$/, "").slice(0, -1) },
    { form: "base64url", needle: bytes.toString("base64url").slice(0, -1) },
    { form: "hex", needle: bytes.toString("hex") },
    { form: "url-encoded", needle: encodeURIComponent(value) },
  ];
}
