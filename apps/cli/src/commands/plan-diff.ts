import { appliedForm, identityOf } from "@quartermaster/install-plan/offline";

import { connect } from "../cluster/connect.ts";
import { deletionsOf, deletionsUnknown } from "../cluster/deletions.ts";
import { diffMember } from "../cluster/diff-member.ts";
import { actAsAccount, getPlan } from "../cluster/get-plan.ts";
import { type PlanObject, planObjects } from "../cluster/plan-objects.ts";
import type { Command } from "../command.ts";
import { exitCode } from "../errors.ts";
import { clusterOptions, onlyPositional } from "../input/invocation.ts";
import { print } from "../output/print.ts";
import { diffText, type ObjectDiff } from "../render/diff-text.ts";
import { colored, plain } from "../render/paint.ts";

const parallel = 8;

/** Queries the server, as the plan's service account, what applying each object would change. Writes nothing. */
export const planDiffCommand: Command = {
  name: "plan diff",
  summary: "show how live objects differ from the plan",
  operands: "<plan>",
  options: clusterOptions,
  run: async (invocation, { system, terminal, signal }) => {
    await using cluster = await connect(invocation, { system, terminal });
    const plan = await getPlan(cluster, onlyPositional(invocation, "plan"), signal);
    const objects = await planObjects(plan, cluster, signal);
    const account = await actAsAccount(plan, cluster, signal);
    const request = { plan, signal, cluster: account, ownNamespaces: namespacesAmong(objects) };
    const diffs: ObjectDiff[] = [];
    for (let done = 0; done < objects.length; done += parallel) {
      const some = objects.slice(done, done + parallel);
      diffs.push(...(await Promise.all(some.map(async (object) => await diffMember(object, request)))));
      if (terminal.isInteractive) terminal.note(`${diffs.length}/${objects.length}`);
    }
    diffs.push(...(await deletionsOf(plan, account, signal)));
    const unknown = deletionsUnknown(plan);
    if (unknown !== undefined) terminal.note(unknown);
    const paint = terminal.hasColor ? colored : plain;
    print(terminal, invocation.format, { data: diffs, text: diffText(diffs, paint) });
    const isSame = unknown === undefined && diffs.every(({ action }) => action === "none");
    return isSame ? exitCode.ok : exitCode.notReady;
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
