import { ConfigError } from "../errors.ts";
import type { Located } from "./merge-kubeconfigs.ts";

/** Text of a `…-data` field. Throws ConfigError when it is not base64. */
export function decodeData({ file, field }: Located<unknown>, name: string, data: string): string {
  const bare = data.replaceAll(/\s/g, "");
  if (/^[A-Za-z\d+/]+={0,2}$/.test(bare) && bare.length % 4 !== 1)
    return Buffer.from(bare, "base64").toString("utf8");
  throw new ConfigError("not base64", { code: "configInvalid", file, field: `${field}.${name}` });
}
