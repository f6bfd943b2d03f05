import { type InstallPlan, installPlan } from "@quartermaster/api";
import type { Client } from "@quartermaster/runtime";
import { makeIdentity, type PolicyRule, connect } from "@quartermaster/testkit";

import { coreRule } from "./grants.ts";
import { configMap } from "./manifests.ts";
import type { Workbench } from "./workbench.ts";

/** The hostile author of security/88 and later: may create plans, and impersonate one account that may do nothing. */
export interface Mallory {
  /** Speaks as mallory. */
  readonly client: Client;
  readonly user: string;
  /** Name of the powerless account. */
  readonly account: string;
  /** A plan under the powerless account. */
  plan(...parts: Parameters<Workbench["plan"]>): InstallPlan;
  create(plan: InstallPlan): Promise<InstallPlan>;
}

const account = "powerless";

/** Lets mallory into the namespace of the workbench. */
export async function letMalloryIn(
  bench: Workbench,
  {
    rules = [],
    accountRules = [],
  }: {
    /** What mallory may do beyond making plans. */
    readonly rules?: readonly PolicyRule[];
    /** What the account may do; nothing by default. */
    readonly accountRules?: readonly PolicyRule[];
  } = {},
): Promise<Mallory> {
  const { api, adminAccess, namespace } = bench;
  await makeIdentity(api, adminAccess, { namespace, name: account, rules: accountRules });
  const makesPlans = {
    apiGroups: ["install.quartermaster.dev"],
    resources: ["installplans", "resourcemanifests"],
    verbs: ["create", "get", "list"],
  };
  const impersonates = { ...coreRule("serviceaccounts", "impersonate"), resourceNames: [account] };
  const identity = await makeIdentity(api, adminAccess, {
    namespace,
    name: "mallory",
    rules: [makesPlans, impersonates, ...rules],
  });
  const { client } = bench.use(connect(identity));
  return {
    client,
    user: identity.user,
    account,
    plan: (name, stages, spec = {}) => bench.plan(name, stages, { serviceAccountName: account, ...spec }),
    create: async (plan) => await client.create(installPlan.kind, plan),
  };
}

/**
 * Installs an unrelated plan, as an attack continues, and gives the milliseconds that took. Fails only when the operator does not
 * get to it at all: how fast it was is for the reader, because a busy machine must not decide a test.
 */
export async function bystanderInstalls(bench: Workbench, name = "bystander"): Promise<number> {
  const startedAt = performance.now();
  await bench.create(bench.plan(name, [{ name: "s", resources: [configMap(name)] }]));
  await bench.installed(name, 60_000);
  const tookMs = Math.round(performance.now() - startedAt);
  process.stdout.write(`${name} of ${bench.namespace} installed in ${tookMs} ms\n`);
  return tookMs;
}
