import type { ProxyPlace } from "@quartermaster/search";
import { z } from "zod";

/** `unix:/path` or `http://host:port`. */
export const engineProxyPlace: z.ZodType<ProxyPlace, string> = z.string().transform((text, context) => {
  const place = placeIn(text);
  if (place !== undefined) return place;
  context.addIssue({ code: "custom", message: "must be unix:/path or http://host:port" });
  return z.NEVER;
});

function placeIn(text: string): ProxyPlace | undefined {
  if (text.startsWith("unix:/")) return { socketPath: text.slice("unix:".length) };
  const { host, port } = /^http:\/\/(?<host>[\w.-]+):(?<port>\d{1,5})\/?$/.exec(text)?.groups ?? {};
  return host === undefined || Number(port) > 65_535 ? undefined : { host, port: Number(port) };
}
