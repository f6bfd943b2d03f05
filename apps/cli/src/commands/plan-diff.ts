import { appliedForm, identityOf } from "@quartermaster/install-plan/pack";

import { connect } from "../cluster/connect.ts";
import { diffMember } from "../cluster/diff-member.ts";
import { getPlan } from "../cluster/get-plan.ts";
import { type PlanObject, planObjects } from "../cluster/plan-objects.ts";
import type { Command } from "../command.ts";
import { exitCode } from "../exit-code.ts";
import { clusterOptions, onlyPositional } from "../input/invocation.ts";
import { print } from "../output/print.ts";
import { diffText, type ObjectDiff } from "../render/diff-text.ts";
import { colored, plain } from "../render/paint.ts";

const parallel = 8;

/** Asks the server, as the plan's service account, what applying each object would change. Writes nothing. */
export const planDiffCommand: Command = {
  name: "plan diff",
  summary: "show how the live objects differ from what a plan declares",
  operands: "<plan>",
  options: clusterOptions,
  run: async (invocation, { system, terminal, signal }) => {
    await using cluster = await connect(invocation, system);
    const plan = await getPlan(cluster, onlyPositional(invocation, "plan"), signal);
    const objects = await planObjects(plan, cluster, signal);
    const user = `system:serviceaccount:${cluster.namespace}:${plan.spec.serviceAccountName}`;
    const request = {
      plan,
      signal,
      cluster: { ...cluster, client: cluster.client.as({ user }) },
      ownNamespaces: namespacesAmong(objects),
    };
    const diffs: ObjectDiff[] = [];
    for (let done = 0; done < objects.length; done += parallel) {
      const some = objects.slice(done, done + parallel);
      diffs.push(...(await Promise.all(some.map(async (object) => await diffMember(object, request)))));
      if (terminal.isInteractive) terminal.note(`${diffs.length}/${objects.length}`);
    }
    const paint = terminal.hasColor ? colored : plain;
    print(terminal, invocation.format, { data: diffs, text: diffText(diffs, paint) });
    return diffs.every(({ action }) => action === "none") ? exitCode.ok : exitCode.notReady;
  },
};

function namespacesAmong(objects: readonly PlanObject[]): ReadonlySet<string> {
  const identities = objects.map(({ object }) => identityOf(appliedForm(object, undefined).manifest));
  return new Set(
    identities
      .filter(({ apiVersion, kind }) => apiVersion === "v1" && kind === "Namespace")
      .map(({ name }) => name),
  );
}
