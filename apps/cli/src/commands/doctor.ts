import { apiVersionLabel, operatorNamespaceLabel, releaseVersion } from "@quartermaster/api/release";
import { classify, type Kind, type KubeObject } from "@quartermaster/runtime";
import {
  customResourceDefinitions,
  daemonSets,
  deployments,
  validatingAdmissionPolicies,
  validatingAdmissionPolicyBindings,
} from "@quartermaster/runtime/kinds";
import { z } from "zod";

import { type Cluster, connect } from "../cluster/connect.ts";
import { isOwnDefinition } from "../cluster/own-objects.ts";
import type { Command } from "../command.ts";
import { exitCode } from "../errors.ts";
import { clusterOptions } from "../input/invocation.ts";
import { print } from "../output/print.ts";
import { diagnosis, type InstallationFacts, type InstalledProgram } from "./diagnosis.ts";

const { namespace: _, ...options } = clusterOptions;

/** Shows what is installed and what keeps it from working. */
export const doctorCommand: Command = {
  name: "doctor",
  summary: "show what of Quartermaster is installed, what is missing, and what to do",
  operands: "",
  options,
  run: async (invocation, context) => {
    await using cluster = await connect(invocation, context);
    const findings = diagnosis(await factsOf(cluster, context.signal));
    const text = findings.map((each) => `${each.isProblem ? "[!]" : "[ok]"} ${each.text}`).join("\n");
    print(context.terminal, invocation.format, { data: findings, text });
    return findings.some(({ isProblem }) => isProblem) ? exitCode.notReady : exitCode.ok;
  },
};

const ours = "app.kubernetes.io/part-of=quartermaster";
const shareDriver = "projected-resource.storage.openshift.io";

async function factsOf(cluster: Cluster, signal: AbortSignal): Promise<InstallationFacts> {
  const { client } = cluster;
  const named = async (kind: Kind): Promise<readonly KubeObject[]> =>
    await Array.fromAsync(client.list(kind, { isMetadataOnly: true, signal }));
  const [crds, policies, bindings] = await Promise.all(
    [customResourceDefinitions, validatingAdmissionPolicies, validatingAdmissionPolicyBindings].map(named),
  );
  const definitions = (crds ?? []).filter(({ metadata }) => isOwnDefinition(metadata.name));
  const labelsOf = (label: string): readonly (string | undefined)[] =>
    definitions.map(({ metadata }) => metadata.labels?.[label]);
  const ownPolicies = (policies ?? [])
    .map(({ metadata }) => metadata.name)
    .filter((name) => name.startsWith("quartermaster-"));
  const bound = new Set((bindings ?? []).map(({ metadata }) => metadata.name));
  return {
    release: releaseVersion,
    definitions: new Map(
      definitions.map(({ metadata }, at) => [metadata.name, labelsOf(apiVersionLabel)[at]]),
    ),
    holders: [...new Set(labelsOf(operatorNamespaceLabel).flatMap((name) => name ?? []))].toSorted(),
    policies: { all: ownPolicies.length, unbound: ownPolicies.filter((name) => !bound.has(name)) },
    programs: [
      ...(await programsOf(cluster, "Deployment", signal)),
      ...(await programsOf(cluster, "DaemonSet", signal)),
    ],
    hasShareDriver: await hasDriver(cluster, signal),
  };
}

const workload = z.object({
  spec: z.object({
    replicas: z.number().optional(),
    template: z.object({
      spec: z.object({
        containers: z.array(
          z.object({
            image: z.string().default(""),
            env: z.array(z.object({ name: z.string(), value: z.string().optional() })).default([]),
          }),
        ),
      }),
    }),
  }),
  status: z
    .object({
      readyReplicas: z.number().optional(),
      numberReady: z.number().optional(),
      desiredNumberScheduled: z.number().optional(),
    })
    .default({}),
});

async function programsOf(
  { client }: Cluster,
  kind: InstalledProgram["kind"],
  signal: AbortSignal,
): Promise<readonly InstalledProgram[]> {
  const served: Kind = kind === "Deployment" ? deployments : daemonSets;
  const found = await Array.fromAsync(client.list(served, { labelSelector: ours, signal }));
  return found.map((object) => {
    const { spec, status } = workload.parse(object);
    const [container] = spec.template.spec.containers;
    return {
      kind,
      namespace: object.metadata.namespace ?? "",
      name: object.metadata.name,
      image: container?.image ?? "",
      ready: status.readyReplicas ?? status.numberReady ?? 0,
      wanted: spec.replicas ?? status.desiredNumberScheduled ?? 0,
      domains: container?.env.find(({ name }) => name === "QM_DOMAINS")?.value,
    };
  });
}

const csiDrivers: Kind = {
  group: "storage.k8s.io",
  version: "v1",
  kind: "CSIDriver",
  plural: "csidrivers",
  scope: "Cluster",
};

async function hasDriver({ client }: Cluster, signal: AbortSignal): Promise<boolean> {
  try {
    return (
      (await client.find(csiDrivers, { name: shareDriver }, { isMetadataOnly: true, signal })) !== undefined
    );
  } catch (error) {
    // Not every user may read it, and a false alarm would send them the wrong way.
    if (classify(error) === "forbidden") return true;
    throw error;
  }
}
