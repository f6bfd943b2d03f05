import type { InstallPlan } from "@quartermaster/api";
import type { HealthFacts } from "@quartermaster/health";
import {
  type Client,
  type Context,
  defineKind,
  fieldOf,
  groupOf,
  type Kind,
  type KubeObject,
  listOf,
  textOf,
} from "@quartermaster/runtime";
import { type StorageClass, storageClasses } from "@quartermaster/runtime/kinds";

import type { Content } from "../manifest/content.ts";
import type { Member } from "../model/member.ts";
import { hasStarted, isInstalled, stageIndexOf } from "../model/plan-status.ts";

export type OutsideFacts = Omit<HealthFacts, "readiness" | "stateAgeMs">;

/**
 * Reads whether the Services behind webhooks of the plan have endpoints, while a stage may have to wait for them: its next
 * writes would be refused otherwise. Nothing is queried before the first write and once the plan is installed.
 */
export async function readHealthFacts(
  plan: InstallPlan,
  { members }: Pick<Content, "members">,
  client: Client,
): Promise<OutsideFacts> {
  if (!hasStarted(plan) || isInstalled(plan)) return {};
  const own = new Set(members.filter(isService).map(({ identity }) => serviceKey(identity)));
  const called = members
    .filter(({ stageIndex }) => stageIndex <= stageIndexOf(plan))
    .flatMap(servicesOf)
    .filter((service) => own.has(serviceKey(service)));
  const known = new Map<string, boolean>();
  for (const service of called) {
    const key = serviceKey(service);
    if (!known.has(key)) known.set(key, await isServed(service, client));
  }
  return { hasEndpoints: (namespace, name) => known.get(serviceKey({ namespace, name })) };
}

/** A claim of a class that binds late waits for a pod, which may come with a later stage. */
export function storageFacts(ctx: Context): OutsideFacts {
  return {
    isWaitForFirstConsumer: (wanted) => {
      const isWanted = ({ metadata }: StorageClass): boolean =>
        wanted === undefined ? metadata.annotations?.[defaultClass] === "true" : metadata.name === wanted;
      return ctx.store(storageClasses).list().find(isWanted)?.volumeBindingMode === "WaitForFirstConsumer";
    },
  };
}

const defaultClass = "storageclass.kubernetes.io/is-default-class";

interface ServiceRef {
  readonly namespace?: string | undefined;
  readonly name: string;
}

function serviceKey({ namespace = "", name }: ServiceRef): string {
  return `${namespace}/${name}`;
}

function isService({ identity }: Member): boolean {
  return identity.kind === "Service" && identity.apiVersion === "v1";
}

/** The Services that the webhooks of a configuration call. */
function servicesOf({ identity, manifest }: Member): readonly ServiceRef[] {
  if (groupOf(identity.apiVersion) !== "admissionregistration.k8s.io") return [];
  return listOf(manifest, "webhooks").flatMap((webhook) => {
    const service = fieldOf(fieldOf(webhook, "clientConfig"), "service");
    const [namespace, name] = [textOf(service, "namespace"), textOf(service, "name")];
    return namespace === undefined || name === undefined ? [] : [{ namespace, name }];
  });
}

const endpointSlices: Kind = defineKind({
  group: "discovery.k8s.io",
  version: "v1",
  kind: "EndpointSlice",
  plural: "endpointslices",
  scope: "Namespaced",
});

async function isServed({ namespace = "", name }: ServiceRef, client: Client): Promise<boolean> {
  const labelSelector = `kubernetes.io/service-name=${name}`;
  const { items } = await client.listPage(endpointSlices, { namespace, labelSelector });
  return items.some((slice: KubeObject) =>
    listOf(slice, "endpoints").some(
      (endpoint) => fieldOf(fieldOf(endpoint, "conditions"), "ready") !== false,
    ),
  );
}
