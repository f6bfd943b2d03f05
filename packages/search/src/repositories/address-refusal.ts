import { printable } from "@quartermaster/runtime";

/** Where the makers of object stores serve them: what operators allow by default. No one else is reached by a repository of type url. */
export const objectStoreHosts: readonly string[] = [
  "*.amazonaws.com",
  "*.amazonaws.com.cn",
  "*.blob.core.windows.net",
  "*.googleapis.com",
];

/**
 * Whether an entry of the operator's list can be read: `host`, `host:port` or `*.domain`, with `http://` in front where no TLS is
 * wanted.
 */
export function isHostEntry(entry: string): boolean {
  return entryOf(entry) !== undefined;
}

/**
 * Why the engine must not be led to an address; undefined if it may. Only what is written plainly is understood: an address that two
 * parsers read in two ways is none.
 */
export function addressRefusal(address: string, allowed: readonly string[]): string | undefined {
  const location = locationOf(address);
  if (location === undefined)
    return `${shown(address)} is not a plain address: write e.g. https://backups.example.com`;
  const { host } = location;
  if (neverReached(host))
    return `${shown(host)} is the machine itself or its metadata service, which is never allowed`;
  const entries = allowed.flatMap((entry) => entryOf(entry) ?? []);
  if (entries.some((entry) => matches(entry, location))) return undefined;
  const what = isInner(host) ? "is an address inside the cluster or its network, and is" : "is";
  return `${shown(host)} ${what} not among the hosts that --snapshot-hosts of the operator allows (${listed(allowed)})`;
}

/** The engine's own list, so that no client can bypass ours through the engine's API. */
export function urlPatterns(allowed: readonly string[]): readonly string[] {
  return allowed
    .flatMap((entry) => entryOf(entry) ?? [])
    .map(({ scheme, host, port }) => `${scheme}://${host}${port === "" ? "" : `:${port}`}/*`)
    .toSorted();
}

interface Location {
  readonly scheme: "http" | "https";
  readonly host: string;
  /** Empty: that of the scheme. */
  readonly port: string;
}

const plainAddress =
  /^(?:(?<scheme>https?):\/\/)?(?<host>[A-Za-z0-9.-]{1,253})(?::(?<port>\d{1,5}))?(?:\/[\w./%-]*)?$/;

function locationOf(address: string): Location | undefined {
  const groups = plainAddress.exec(address)?.groups;
  const scheme = groups?.["scheme"] === "http" ? "http" : "https";
  const host = groups?.["host"] ?? "";
  // As the engine's own parser would: `0x7f.1` and `2130706433` are addresses, too.
  const text = `${scheme}://${host}`;
  if (groups === undefined || !URL.canParse(text)) return undefined;
  return { scheme, host: new URL(text).hostname.replace(/\.$/, ""), port: groups["port"] ?? "" };
}

function entryOf(entry: string): Location | undefined {
  const isPattern = /^(?:https?:\/\/)?\*\./.test(entry);
  const location = locationOf(isPattern ? entry.replace("*.", "") : entry);
  if (location === undefined || /[/%]/.test(entry.replace(/^https?:\/\//, ""))) return undefined;
  return isPattern ? { ...location, host: `*.${location.host}` } : location;
}

function matches(entry: Location, location: Location): boolean {
  if (entry.scheme !== location.scheme || portOf(entry) !== portOf(location)) return false;
  if (!entry.host.startsWith("*.")) return entry.host === location.host;
  return !isInner(location.host) && location.host.endsWith(entry.host.slice(1));
}

function portOf({ scheme, port }: Location): string {
  if (port !== "") return String(Number(port));
  return scheme === "http" ? "80" : "443";
}

/** The machine itself, and where clouds tell machines their secrets. */
function neverReached(host: string): boolean {
  if (/^(?:127|0)\.|^169\.254\./.test(host) || host === "localhost" || host.endsWith(".localhost"))
    return true;
  return host === "metadata.google.internal" || host === "metadata";
}

/** Names and addresses that mean something else inside the cluster than outside: only an exact entry allows one. */
function isInner(host: string): boolean {
  if (neverReached(host) || !host.includes(".")) return true;
  if (/^\d+(?:\.\d+){3}$/.test(host)) return true;
  return /(?:^|\.)(?:svc|local|internal|intranet|lan|home\.arpa)$/.test(host) || /\.svc\./.test(host);
}

function listed(allowed: readonly string[]): string {
  return allowed.length === 0 ? "none" : allowed.join(", ");
}

function shown(text: string): string {
  return printable(text.slice(0, 100));
}
