import { type InstallPlan, installPlan, type ResourceManifest, resourceManifest } from "@quartermaster/api";
import type { Packed } from "@quartermaster/install-plan/offline";
import { classify, defineKind, type Kind, type KubeObject } from "@quartermaster/runtime";

import type { CommandContext } from "../command.ts";
import { CliError, exitCode } from "../errors.ts";
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
 * Creates the plan, which it returns, then what it refers to; until that is there the plan waits. So each manifest belongs to the
 * plan from the beginning, and goes with it whatever becomes of the plan or of us. What is there already by its digest stays; a
 * plan of the name is an error. The server is queried about the plan first: of one that it refuses nothing may be left behind.
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
  await refuseUnknownPlans(plan, where);
  const made = await createPlan(plan, where);
  try {
    await createReferenced(packed, made, where);
  } catch (error) {
    await withdraw(made, where);
    throw error;
  }
  return made;
}

async function createReferenced(packed: Packed, plan: InstallPlan, where: Where): Promise<void> {
  const manifests = packed.manifests as readonly ResourceManifest[];
  await createAll(
    resourceManifest.kind,
    manifests.map((manifest) => ownedBy(manifest, plan)),
    where,
  );
  const owned = await Promise.all(packed.secrets.map(async (secret) => await ownedSecret(secret, where)));
  await createAll(secrets, owned, where);
}

/** Without what it refers to the plan would wait for ever; with it goes what was made so far. Not broken off with the command. */
async function withdraw({ metadata }: InstallPlan, { cluster, context }: Where): Promise<void> {
  const { name, namespace = "", uid = "" } = metadata;
  try {
    await cluster.client.delete(installPlan.kind, { name, namespace }, { preconditions: { uid } });
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    context.terminal.note(
      `warning: InstallPlan ${namespace}/${name} is incomplete and could not be deleted, delete it yourself: ${why}`,
    );
  }
}

function ownedBy<O extends KubeObject>(object: O, { apiVersion, kind, metadata }: KubeObject): O {
  const owner = { apiVersion, kind, name: metadata.name, uid: metadata.uid ?? "" };
  return { ...object, metadata: { ...object.metadata, ownerReferences: [owner] } };
}

async function createPlan(plan: InstallPlan, where: Where): Promise<InstallPlan> {
  const made = await created(installPlan.kind, plan, where);
  if (made !== undefined) return made;
  const { name, namespace = "" } = plan.metadata;
  throw new CliError(
    `InstallPlan ${namespace}/${name} already exists and plans are immutable; choose another --name and add --replaces ${name}`,
  );
}

/** To the operator a plan that does not exist is a deleted one: a typing error would leave the old plan in force. */
async function refuseUnknownPlans(
  { spec, metadata }: InstallPlan,
  { cluster, context }: Where,
): Promise<void> {
  const { namespace = "" } = metadata;
  const { signal } = context;
  const { client } = cluster;
  for (const { name } of spec.replaces?.plans ?? []) {
    const found = await ifAllowed(
      async () => await client.find(installPlan.kind, { namespace, name }, { signal }),
    );
    if (found !== undefined) continue;
    const page = await ifAllowed(
      async () => await client.listPage(installPlan.kind, { namespace, pageSize: plansShown, signal }),
    );
    const there = page === "forbidden" ? [] : page.items.map((plan) => plan.metadata.name);
    const hint = there.length === 0 ? "" : `; plans in the namespace: ${there.join(", ")}`;
    throw new CliError(
      `--replaces ${name}: InstallPlan ${namespace}/${name} does not exist${hint}`,
      exitCode.notFound,
    );
  }
}

/** Who may create plans need not be allowed to read them. */
async function ifAllowed<T>(read: () => Promise<T>): Promise<T | "forbidden"> {
  try {
    return await read();
  } catch (error) {
    if (classify(error) !== "forbidden") throw error;
    return "forbidden";
  }
}

const plansShown = 20;

/** Manifest and Secret have one name. The Secret goes with its manifest, and that with the last plan that needs it. */
async function ownedSecret(secret: KubeObject, { cluster, context }: Where): Promise<KubeObject> {
  const { name, namespace = "" } = secret.metadata;
  const manifest = await cluster.client.get(
    resourceManifest.kind,
    { name, namespace },
    { signal: context.signal },
  );
  return ownedBy(secret, manifest);
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
