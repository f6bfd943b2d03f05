import { type InstallPlan, installPlan, type ResourceManifest, resourceManifest } from "@quartermaster/api";
import type { Packed } from "@quartermaster/install-plan/offline";
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

/**
 * Creates what the plan refers to, then the plan, which it returns. What is there already by its digest stays; a plan of the name is
 * an error. The server is asked about the plan first: of one that it refuses nothing may be left behind.
 */
export async function applyPacked(
  packed: Packed,
  cluster: Cluster,
  context: CommandContext,
): Promise<InstallPlan> {
  const where = { cluster, context };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the server fills in the defaults
  const plan = packed.plan as unknown as InstallPlan;
  await createPlan(plan, { ...where, dryRun: true });
  const manifests = packed.manifests as readonly ResourceManifest[];
  await createAll(resourceManifest.kind, manifests, where);
  const owned = await Promise.all(packed.secrets.map(async (secret) => await ownedSecret(secret, where)));
  await createAll(secrets, owned, where);
  return await createPlan(plan, where);
}

async function createPlan(plan: InstallPlan, where: Where): Promise<InstallPlan> {
  const made = await created(installPlan.kind, plan, where);
  if (made !== undefined) return made;
  const { name, namespace = "" } = plan.metadata;
  throw new CliError(
    `InstallPlan ${namespace}/${name} already exists and plans are immutable; choose another --name and add --replaces ${name}`,
  );
}

/** Manifest and Secret have one name. The Secret goes with its manifest, and that with the last plan that needs it. */
async function ownedSecret(secret: KubeObject, { cluster, context }: Where): Promise<KubeObject> {
  const { name, namespace = "" } = secret.metadata;
  const manifest = await cluster.client.get(
    resourceManifest.kind,
    { name, namespace },
    { signal: context.signal },
  );
  const { apiVersion, kind, metadata } = manifest;
  const owner = { apiVersion, kind, name, uid: metadata.uid ?? "" };
  return { ...secret, metadata: { ...secret.metadata, ownerReferences: [owner] } };
}

interface Where {
  readonly cluster: Cluster;
  readonly context: CommandContext;
  readonly dryRun?: boolean;
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
  { cluster, context, dryRun = false }: Where,
): Promise<O | undefined> {
  try {
    return await cluster.client.create(kind, object, { signal: context.signal, fieldManager: "qm", dryRun });
  } catch (error) {
    if (classify(error) === "alreadyExists") return undefined;
    throw error;
  }
}
