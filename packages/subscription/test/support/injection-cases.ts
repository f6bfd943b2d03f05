import type { Bundle, ClusterBundle } from "@quartermaster/api";
import type { JsonPatchOperation } from "@quartermaster/runtime";

import { chooseBundles } from "../../src/injection/choose-bundles.ts";
import { decideInjection, isAlwaysInjected } from "../../src/injection/decide-injection.ts";
import type { InjectionDecision } from "../../src/injection/injection-decision.ts";
import { type InjectionFacts, type KeyFacts, keyFactsOf } from "../../src/injection/injection-facts.ts";
import { type PodView, viewPod } from "../../src/injection/pod-view.ts";
import { readSubscriptionSettings } from "../../src/subscription-settings.ts";
import { applyPatch } from "./json-patch.ts";

/** Paths and annotations as users know them. */
export const [ePath, rPath] = ["/run/secrets/etc-pki-entitlement", "/run/secrets"];
export const domain = "subscription.openshift.io";

/** A bundle in a table. */
interface BundleCase {
  readonly entitlements?: readonly object[];
  readonly repos?: readonly object[];
  readonly generation?: number;
  readonly isAuto?: boolean;
  /** Value of the always-inject label (default: `true` with `isAuto`, and none without). */
  readonly label?: string;
  readonly defaultMode?: number;
  readonly shares?: readonly object[];
  readonly conditions?: readonly object[];
}

/** The world of a case: bundles by name, and keys by `Secret/ns/name`. */
export interface State {
  readonly bundles?: Readonly<Record<string, BundleCase>>;
  readonly clusterBundles?: Readonly<Record<string, BundleCase>>;
  /** Names of ClusterBundles that the account may not get. */
  readonly denied?: readonly string[];
  readonly accessUnknown?: readonly string[];
  /** e.g. `{ "app/local-entitlement": ["a.pem"] }`; a Secret or a ConfigMap, whichever is requested. */
  readonly secrets?: Readonly<Record<string, readonly string[] | "missing" | "forbidden" | "unknown">>;
  readonly configMaps?: Readonly<Record<string, readonly string[] | "missing">>;
  readonly settings?: object;
}

function objectOf(name: string, given: BundleCase, location: object): unknown {
  const { entitlements, repos, generation = 1, isAuto = false, defaultMode, shares, conditions } = given;
  const label = given.label ?? (isAuto ? "true" : undefined);
  const filled = (references: readonly object[] | undefined) =>
    references?.map((reference) => ({ optional: false, ...reference }));
  return {
    apiVersion: `${domain}/v1alpha1`,
    metadata: {
      name,
      generation,
      ...location,
      labels: label === undefined ? {} : { [`${domain}/always-inject`]: label },
    },
    spec: {
      ...(entitlements === undefined ? {} : { entitlements: filled(entitlements) }),
      ...(repos === undefined ? {} : { yumRepositories: filled(repos) }),
      ...(defaultMode === undefined ? {} : { defaultMode }),
    },
    status: { shares: shares ?? sharesOf(name, given), conditions },
  };
}

/** As the controller names them. */
function sharesOf(name: string, { entitlements = [], repos = [] }: BundleCase): readonly object[] {
  const named = (references: readonly object[], kind: string, stem: string): readonly object[] =>
    references.map((reference, at) => ({
      name: `${name}-subscription-${stem}${at === 0 ? "" : `-${at}`}`,
      ref: { kind, ...(reference as { name: string; namespace: string }) },
    }));
  return [...named(entitlements, "Secret", "entitlement"), ...named(repos, "ConfigMap", "yumrepository")];
}

/** The facts of a world, for pods of namespace `app`. */
export function factsOf(state: State, pod: PodView): InjectionFacts {
  const bundles = Object.entries(state.bundles ?? {}).map(
    ([name, given]) => [name, objectOf(name, given, { namespace: "app" }) as Bundle] as const,
  );
  const clusterBundles = Object.entries(state.clusterBundles ?? {}).map(
    ([name, given]) => [name, objectOf(name, given, {}) as ClusterBundle] as const,
  );
  const keysOf = (kind: string, all: Readonly<Record<string, readonly string[] | string>> = {}) =>
    Object.entries(all).map(([name, keys]) => [`${kind}/${name}`, keyFacts(keys)] as const);
  const names = new Set([...Object.keys(state.clusterBundles ?? {}), "missing", ...(state.denied ?? [])]);
  const labelled = (all: readonly (readonly [string, Bundle | ClusterBundle])[]): readonly string[] =>
    all.filter(([, bundle]) => isAlwaysInjected(bundle)).map(([name]) => name);
  return {
    namespace: "app",
    choice: chooseBundles(pod.annotations, {
      bundles: labelled(bundles),
      clusterBundles: labelled(clusterBundles),
    }),
    bundles: new Map(bundles),
    clusterBundles: new Map(clusterBundles),
    access: new Map(
      [...names].map((name) => {
        if (state.accessUnknown?.includes(name) === true) return [name, "unknown"] as const;
        return [name, state.denied?.includes(name) === true ? "denied" : "allowed"] as const;
      }),
    ),
    keys: new Map([...keysOf("Secret", state.secrets), ...keysOf("ConfigMap", state.configMaps)]),
  };
}

function keyFacts(keys: readonly string[] | string): KeyFacts {
  return typeof keys === "string" ? ({ kind: keys } as KeyFacts) : keyFactsOf(keys);
}

/** A pod as the API server sends it. */
export interface PodCase {
  readonly annotations?: Readonly<Record<string, string>>;
  readonly spec?: object;
}

/** A pod; annotations are given without our domain. */
export function aPod({ annotations = {}, spec = {} }: PodCase = {}): object {
  const full = Object.fromEntries(
    Object.entries(annotations).map(([key, value]) => [key.includes("/") ? key : `${domain}/${key}`, value]),
  );
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { generateName: "pod-", ...(Object.keys(full).length === 0 ? {} : { annotations: full }) },
    spec: { containers: [{ name: "main", image: "ubi" }], ...spec },
  };
}

/** The pod after the decision, as far as tests look at it. */
export interface SeenPod {
  readonly metadata: { readonly annotations?: Readonly<Record<string, string>> };
  readonly spec: {
    readonly volumes?: readonly { readonly name: string }[];
    readonly containers: readonly SeenContainer[];
    readonly initContainers?: readonly SeenContainer[];
    readonly ephemeralContainers?: readonly SeenContainer[];
  };
}

interface SeenContainer {
  readonly name: string;
  readonly volumeMounts?: readonly object[];
}

/** A decision with what came of it. */
export interface Decided {
  readonly decision: InjectionDecision;
  readonly pod: SeenPod;
  readonly patch: readonly JsonPatchOperation[];
  readonly warnings: readonly string[];
  /** Message of a refusal. */
  readonly message: string;
  readonly generations: string | undefined;
}

/** Decides upon a pod in a world and applies the patch. */
export function decide(pod: object, state: State): Decided {
  const view = viewPod(pod);
  const settings = readSubscriptionSettings(state.settings ?? {});
  return seen(pod, decideInjection(view, factsOf(state, view), settings));
}

export function seen(pod: object, decision: InjectionDecision): Decided {
  const { admission } = decision;
  const patch = admission.kind === "allow" ? (admission.patch ?? []) : [];
  const after = applyPatch(pod, patch) as SeenPod;
  return {
    decision,
    patch,
    pod: after,
    warnings: admission.warnings ?? [],
    message: admission.kind === "deny" ? admission.message : "",
    generations: after.metadata.annotations?.[`${domain}/bundle-generations`],
  };
}

export function withDefaults(pod: SeenPod): SeenPod {
  const copy = structuredClone(pod) as unknown as {
    spec: { volumes?: { projected?: { defaultMode?: number } }[] };
  };
  for (const { projected } of copy.spec.volumes ?? [])
    if (projected !== undefined) projected.defaultMode ??= 420;
  return copy as unknown as SeenPod;
}

/** The mount of the token that nearly every container has. */
export const tokenMount = {
  name: "kube-api-access-x",
  mountPath: "/var/run/secrets/kubernetes.io/serviceaccount",
  readOnly: true,
};
