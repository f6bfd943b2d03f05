import type { InstallPlan } from "@quartermaster/api";

import type { Content } from "../manifest/content.ts";
import { type KindTable, reachableKind } from "../manifest/kind-table.ts";
import { type Identity, type IdentityKey, identityKey } from "../model/identity.ts";
import type { Lifecycle } from "../model/member.ts";

/** One object that a plan names, whether or not its manifest can still be read. */
export interface Entry {
  readonly identity: Identity;
  readonly key: IdentityKey;
  readonly stageIndex: number;
  readonly index: number;
  readonly lifecycle: Lifecycle;
}

/** Every object of a plan in its order: from the content, and from the references where a manifest no longer exists. */
export function inventoryOf(plan: InstallPlan, content: Content, kinds: KindTable): readonly Entry[] {
  const known = new Set(content.members.map(({ stageIndex, index }) => locationOf(stageIndex, index)));
  const lost = plan.spec.stages.flatMap(({ resources = [] }, stageIndex) =>
    resources.flatMap(({ manifestRef, lifecycle }, index): readonly Entry[] => {
      if (manifestRef === undefined || known.has(locationOf(stageIndex, index))) return [];
      const { namespace = "", ...named } = manifestRef.object;
      const identity: Identity = { ...named, ...(namespace === "" ? {} : { namespace }) };
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a field that the resource omits is absent, not undefined
      const merged = { ...plan.spec.lifecycle, ...lifecycle } as Lifecycle;
      return [{ identity, key: identityKey(identity), stageIndex, index, lifecycle: merged }];
    }),
  );
  return [...content.members, ...lost]
    .map((entry) => placed(entry, plan, kinds))
    .filter((entry) => isWithinScope(entry, plan))
    .toSorted((one, other) => one.stageIndex - other.stageIndex || one.index - other.index);
}

/** A reference to a deleted manifest is the author's text: it cannot lead where the plan may not go. */
function isWithinScope({ identity: { namespace } }: Entry, { metadata, spec }: InstallPlan): boolean {
  return spec.scope === "Cluster" || namespace === undefined || namespace === metadata.namespace;
}

/** A reference may leave the plan's own namespace out, as manifests do; so does a member whose version is no longer served. */
function placed<E extends Entry>(entry: E, { metadata }: InstallPlan, kinds: KindTable): E {
  const { namespace, ...named } = entry.identity;
  const scope = reachableKind(kinds, named)?.scope;
  const isComplete = scope === undefined || (scope === "Namespaced") === (namespace !== undefined);
  if (isComplete) return entry;
  const home = scope === "Namespaced" ? metadata.namespace : undefined;
  const identity: Identity = { ...named, namespace: home };
  return { ...entry, identity, key: identityKey(identity) };
}

function locationOf(stageIndex: number, index: number): string {
  return `${stageIndex}/${index}`;
}
