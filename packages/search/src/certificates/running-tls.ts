import { fieldOf, isControlledBy, listOf, type Live, textOf } from "@quartermaster/runtime";
import type { Pod, StatefulSet } from "@quartermaster/runtime/kinds";

import type { SearchCluster } from "../model/search-cluster.ts";

/** Which layers nodes use TLS on. */
export interface RunningTls {
  readonly transport: boolean;
  readonly http: boolean;
}

/** Certificates that the cluster runs with. */
interface Running {
  readonly pods: readonly Live<Pod>[];
  readonly sets: readonly Live<StatefulSet>[];
}

/**
 * How the nodes that run were started, by the certificates that their pods mount; those of most, where they differ. Without a pod, as the
 * next one would be started. Undefined where neither says.
 */
export function runningTls({ pods, sets }: Running): RunningTls | undefined {
  const live = pods.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  const modes = live.flatMap(({ spec }) => modeOf(spec) ?? []);
  const templates = sets.flatMap(({ spec }) => modeOf(spec.template.spec) ?? []);
  const known = modes.length > 0 ? modes : templates;
  const count = ({ transport, http }: RunningTls): number =>
    known.filter((mode) => mode.transport === transport && mode.http === http).length;
  return known.toSorted((one, other) => count(other) - count(one))[0];
}

/** Names of the Secrets whose certificates pods of ours have mounted, by layer: they serve those until they are restarted. */
export interface MountedCertificates {
  readonly transport: readonly string[];
  readonly http: readonly string[];
}

/** Certificates that pods of these sets have mounted. Other pods prove nothing: any user may create one with our labels. */
export function mountedCertificates({ pods, sets }: Running): MountedCertificates {
  const own = pods.filter((pod) => sets.some((set) => isControlledBy(pod, set)));
  const namesOf = (path: string): readonly string[] => [
    ...new Set(own.flatMap(({ spec }) => secretSources(spec).flatMap((source) => nameIn(source, path)))),
  ];
  return { transport: namesOf("transport.crt"), http: namesOf("http.crt") };
}

/** The declaration with TLS as the nodes have it. `held` is what is declared and cannot be carried out. */
export function withRunningTls(
  cluster: SearchCluster,
  running: RunningTls | undefined,
): { readonly cluster: SearchCluster; readonly heldTls: string | undefined } {
  const { security } = cluster;
  const declared = tlsOf(cluster);
  if (running === undefined || (running.transport === declared.transport && running.http === declared.http))
    return { cluster, heldTls: undefined };
  return {
    cluster: {
      ...cluster,
      security: {
        ...security,
        isEnabled: running.transport,
        transport: { ...security.transport, isEnabled: running.transport },
        http: { ...security.http, isEnabled: running.http },
      },
    },
    heldTls: `TLS between nodes ${text(declared.transport)}, for clients ${text(declared.http)}`,
  };
}

/** Declared TLS. Without security there is no TLS. */
export function tlsOf({ security }: Pick<SearchCluster, "security">): RunningTls {
  const { isEnabled, transport, http } = security;
  return { transport: isEnabled && transport.isEnabled, http: isEnabled && http.isEnabled };
}

function text(isOn: boolean): string {
  return isOn ? "on" : "off";
}

/** Our pods always have volumes; what has none says nothing. */
function modeOf(spec: unknown): RunningTls | undefined {
  if (listOf(spec, "volumes").length === 0) return undefined;
  const paths = secretSources(spec).flatMap((source) =>
    listOf(source, "items").map((item) => textOf(item, "path")),
  );
  return { transport: paths.includes("transport.crt"), http: paths.includes("http.crt") };
}

function secretSources(spec: unknown): readonly unknown[] {
  const certificates = listOf(spec, "volumes").find((volume) => textOf(volume, "name") === "certificates");
  return listOf(fieldOf(certificates, "projected"), "sources").map((source) => fieldOf(source, "secret"));
}

/** The name of a Secret that this file comes from. */
function nameIn(source: unknown, path: string): readonly string[] {
  const hasFile = listOf(source, "items").some((item) => textOf(item, "path") === path);
  const name = textOf(source, "name");
  return hasFile && name !== undefined ? [name] : [];
}
