import { type InstallPlan, installPlan, type ResourceManifest, resourceManifest } from "@quartermaster/api";
import type { Packed } from "@quartermaster/install-plan/pack";
import { classify, defineKind, type Kind, type KubeObject } from "@quartermaster/runtime";

import type { CommandContext } from "../command.ts";
import { CliError } from "../errors.ts";
import type { Cluster } from "./connect.ts";

const secrets = defineKind<KubeObject>({
  group: "",
  version: "v1",
  kind: "Secret",
  plural: "secrets",
  scope: "Namespaced",
});
const parallel = 8;

/** Creates what the plan refers to, then the plan, which it returns. What is there already by its digest stays; a plan of the name is an error. */
export async function applyPacked(
  packed: Packed,
  cluster: Cluster,
  context: CommandContext,
): Promise<InstallPlan> {
  await createAll(secrets, packed.secrets, { cluster, context });
  await createAll(resourceManifest.kind, packed.manifests as readonly ResourceManifest[], {
    cluster,
    context,
  });
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the server fills in the defaults
  const plan = packed.plan as unknown as InstallPlan;
  const { name, namespace = "" } = plan.metadata;
  const made = await created(installPlan.kind, plan, { cluster, context });
  if (made !== undefined) return made;
  throw new CliError(
    `InstallPlan ${namespace}/${name} exists, and what a plan installs cannot be changed; choose another --name and add --replaces ${name}`,
  );
}

interface Where {
  readonly cluster: Cluster;
  readonly context: CommandContext;
}

async function createAll<O extends KubeObject>(
  kind: Kind<O>,
  objects: readonly O[],
  where: Where,
): Promise<void> {
  const { terminal } = where.context;
  for (let done = 0; done < objects.length; done += parallel) {
    const some = objects.slice(done, done + parallel);
    await Promise.all(some.map(async (object) => await created(kind, object, where)));
    if (terminal.isInteractive) terminal.note(`${kind.kind} ${done + some.length}/${objects.length}`);
  }
}

/** Undefined when an object of the name is there. */
async function created<O extends KubeObject>(
  kind: Kind<O>,
  object: O,
  { cluster, context }: Where,
): Promise<O | undefined> {
  try {
    return await cluster.client.create(kind, object, { signal: context.signal, fieldManager: "qm" });
  } catch (error) {
    if (classify(error) === "alreadyExists") return undefined;
    throw error;
  }
}
