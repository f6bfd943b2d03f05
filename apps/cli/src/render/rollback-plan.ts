import type { InstallPlan } from "@quartermaster/api";
import { unreachable } from "@quartermaster/runtime";

import { progressOf } from "./status-tree.ts";

/** The plan from which this one took over: the last that it superseded, else the last that it names. */
export function predecessorOf({ spec, status }: InstallPlan): string | undefined {
  const superseded = (status?.replaces ?? []).filter(({ state }) => state === "Superseded");
  return superseded.at(-1)?.name ?? spec.replaces?.plans?.at(-1)?.name;
}

/** A new plan with the old one's content that replaces the current one. Approvals and pauses are not carried over. */
export function rollbackPlan(old: InstallPlan, current: InstallPlan, name: string): InstallPlan {
  const {
    approved: _approved,
    approvedPreview: _preview,
    paused: _paused,
    replaces: _replaces,
    ...content
  } = old.spec;
  const { namespace = "default" } = current.metadata;
  return {
    apiVersion: old.apiVersion,
    kind: old.kind,
    metadata: { name, namespace },
    spec: {
      ...content,
      approved: false,
      paused: false,
      replaces: { plans: [{ name: current.metadata.name }], finishWhen: "Ready", onFailure: "Hold" },
    },
  };
}

/** What came of a rollback, as far as it is known when the operator has checked the new plan. */
export function rollbackText(
  made: InstallPlan,
  { target, current }: { readonly target: string; readonly current: InstallPlan },
): string {
  const { name, namespace = "default" } = made.metadata;
  const created = `created InstallPlan ${namespace}/${name} with the content of ${target}`;
  const state = `it is ${made.status?.phase ?? "not observed yet"}`;
  const output = made.status?.message === undefined ? "" : `: ${made.status.message}`;
  const explain = `run qm plan explain ${name} -n ${namespace}`;
  const progress = progressOf(made);
  switch (progress) {
    case "ready":
      return `${created}; it has replaced ${current.metadata.name}`;
    case "underWay":
      return `${created}; it replaces ${current.metadata.name} and is ${made.status?.phase}; run qm plan status ${name} -n ${namespace} --watch`;
    case "undecided":
      return `${created}; ${state}${output}\n${current.metadata.name} is not replaced yet; ${explain}`;
    case "stuck":
      return `${created}, but ${state}${output}\n${explain}`;
    default:
      return unreachable(progress);
  }
}
