import type { InstallPlan } from "@quartermaster/api";

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
