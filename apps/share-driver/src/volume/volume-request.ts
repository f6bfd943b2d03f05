import { z } from "zod";

import { Refusal } from "../refusal.ts";
import { parseTarget } from "./target-path.ts";

/** The pod that a volume is for, as kubelet reports it. */
export interface VolumePod {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly serviceAccount: string;
}

export interface VolumeRequest {
  readonly volumeId: string;
  readonly target: string;
  readonly pod: VolumePod;
  /** Names of Shares, each once, in the order of the pod's manifest. */
  readonly shares: readonly string[];
  /** Permission bits of the files. */
  readonly mode: number;
}

/** More than any bundle has; each one costs a review and two reads. */
export const MAX_SHARES = 32;

const optionalText = z.string().default("");
const message = z.object({
  volumeId: optionalText,
  targetPath: optionalText,
  readonly: z.boolean().default(false),
  volumeCapability: z.object({ block: z.unknown() }).partial().default({}),
  volumeContext: z.record(z.string(), z.string()).default({}),
});

const podInfo = "csi.storage.k8s.io/";

/**
 * Reads a NodePublishVolumeRequest. Throws a Refusal that says what is wrong with the pod's manifest.
 *
 * The pod's identity comes from kubelet only while the CSIDriver object says `podInfoOnMount`: otherwise the author of a pod could
 * write it among the attributes. So its uid, which no author knows in advance, must be that of the path.
 */
export function parseVolumeRequest(request: unknown, kubeletDirectory: string): VolumeRequest {
  const { volumeId, targetPath, readonly, volumeCapability, volumeContext } = message.parse(request);
  if (volumeId === "") throw invalid("the request has no volume id");
  const target = parseTarget(targetPath, kubeletDirectory);
  const pod = podOf(volumeContext);
  if (pod.uid !== target.podUid)
    throw invalid("the pod is not known: the CSIDriver object must have podInfoOnMount: true");
  if (volumeContext[`${podInfo}ephemeral`] !== "true") throw invalid("only ephemeral volumes are served");
  if (volumeCapability.block !== undefined) throw invalid("a Share cannot be a block device");
  if (!readonly) throw invalid("the volume must have readOnly: true");
  const { shares, mode } = parseAttributes(volumeContext);
  return { volumeId, target: target.path, pod, shares, mode };
}

function podOf(context: Readonly<Record<string, string>>): VolumePod {
  return {
    namespace: context[`${podInfo}pod.namespace`] ?? "",
    name: context[`${podInfo}pod.name`] ?? "",
    uid: context[`${podInfo}pod.uid`] ?? "",
    serviceAccount: context[`${podInfo}serviceAccount.name`] ?? "",
  };
}

const known = new Set(["share", "sources", "defaultMode"]);

function parseAttributes(context: Readonly<Record<string, string>>): Pick<VolumeRequest, "shares" | "mode"> {
  const unknown = Object.keys(context).filter((key) => !known.has(key) && !key.startsWith(podInfo));
  if (unknown.length > 0)
    throw invalid(
      `volumeAttributes: unknown ${quoted(unknown.toSorted()[0])}; share, sources and defaultMode are known`,
    );
  return { shares: sharesOf(context), mode: modeOf(context["defaultMode"]) };
}

function sharesOf({ share, sources }: Readonly<Record<string, string>>): readonly string[] {
  if (share !== undefined && sources !== undefined)
    throw invalid("volumeAttributes: share and sources exclude each other");
  const names = share === undefined ? sourcesOf(sources) : [share];
  for (const name of names)
    if (!isObjectName(name)) throw invalid(`volumeAttributes: ${quoted(name)} is not the name of a Share`);
  return [...new Set(names)];
}

const sourceList = z
  .array(z.strictObject({ share: z.strictObject({ name: z.string() }) }))
  .min(1)
  .max(MAX_SHARES);

function sourcesOf(sources: string | undefined): readonly string[] {
  if (sources === undefined) throw invalid("volumeAttributes: share or sources is required");
  const parsed = sourceList.safeParse(jsonOf(sources));
  if (!parsed.success)
    throw invalid(
      `volumeAttributes: sources must be JSON text such as [{"share":{"name":"a"}}], with 1 to ${MAX_SHARES} entries`,
    );
  return parsed.data.map(({ share }) => share.name);
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined; // refused by the schema, with the same words as any other shape
  }
}

/** As for a Secret volume, but as text: attributes are strings. */
function modeOf(octal = "0444"): number {
  if (!/^0?[0-7]{3}$/.test(octal))
    throw invalid(`volumeAttributes: defaultMode ${quoted(octal)} is not octal, such as "0444"`);
  return Number.parseInt(octal, 8);
}

function isObjectName(name: string): boolean {
  return name.length <= 253 && /^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/.test(name);
}

/** Text of an author, for a message: as JSON, and no longer than a name. */
function quoted(text = ""): string {
  return JSON.stringify(text.slice(0, 253));
}

function invalid(reason: string): Refusal {
  return new Refusal("InvalidRequest", reason);
}
