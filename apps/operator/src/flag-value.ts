import { isHostEntry, type ProxyAddress } from "@quartermaster/search";
import { z } from "zod";

/** Value of a flag: a schema that reads the text of the command line or the environment. */
export type FlagValue = z.ZodType<unknown, string | undefined>;

/** Digits alone: `0x10` and `1e3` are slips, not numbers. */
export const wholeNumber: z.ZodType<number, string> = z
  .string()
  .regex(/^-?\d+$/, "must be a whole number")
  .transform(Number);

/** Any text; an empty one is none. */
export const optionalText = z.string().exactOptional();

/** 0 takes any free port. */
export const portNumber = wholeNumber.pipe(z.number().int().min(0).max(65_535));

/** A flag with this value may stand alone, which means true. */
export const trueOrFalse = z
  .enum(["true", "false"])
  .default("false")
  .transform((value) => value === "true");

/** Name of a namespace. */
export const namespaceName = z
  .string()
  .max(63)
  .regex(/^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?$/, "must be the name of a namespace");

/** `namespace/name` of a Service. */
export const serviceName = z
  .string()
  .regex(/^[a-z0-9-]{1,63}\/[a-z0-9-]{1,63}$/, "must be a namespace and a name, e.g. quartermaster/webhook");

/** Some of the names, separated by commas. */
export function listOf<const N extends readonly [string, ...string[]]>(
  names: N,
): z.ZodType<N[number][], string> {
  return z
    .string()
    .transform((text) => text.split(","))
    .pipe(z.array(z.enum(names)));
}

/** Domain of names in DNS. */
export const domainName: z.ZodString = z
  .string()
  .max(200)
  .regex(
    /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/,
    "must be a domain, e.g. cluster.local",
  );

/** Hosts of snapshot repositories, separated by commas. */
export const hostList: z.ZodType<string[], string> = z
  .string()
  .transform((text) => text.split(",").map((host) => host.trim()))
  .pipe(
    z.array(z.string().refine(isHostEntry, "must be hosts, e.g. backups.example.com,*.storage.example.com")),
  );

/** `unix:/path` or `http://host:port`. */
export const proxyAddress: z.ZodType<ProxyAddress, string> = z.string().transform((text, context) => {
  const proxy = proxyIn(text);
  if (proxy !== undefined) return proxy;
  context.addIssue({ code: "custom", message: "must be unix:/path or http://host:port" });
  return z.NEVER;
});

function proxyIn(text: string): ProxyAddress | undefined {
  if (text.startsWith("unix:/")) return { socketPath: text.slice("unix:".length) };
  const { host, port } = /^http:\/\/(?<host>[\w.-]+):(?<port>\d{1,5})\/?$/.exec(text)?.groups ?? {};
  return host === undefined || Number(port) > 65_535 ? undefined : { host, port: Number(port) };
}
