import { readFile } from "node:fs/promises";

import type { EnterpriseLicense } from "@quartermaster/api/licensing";
import { importLicense, readLicenseFile } from "@quartermaster/license-selection";
import { type ExplainedCluster, explainLicenses, type LicenseState } from "@quartermaster/licensing";
import type { Live } from "@quartermaster/runtime";
import type { Secret } from "@quartermaster/runtime/kinds";

import { type LicenseView, licenseOptions, viewLicenses } from "../cluster/view-licenses.ts";
import type { Command } from "../command.ts";
import { CliError, exitCode, usageError } from "../errors.ts";
import { print } from "../output/print.ts";
import { table } from "../render/table.ts";

/** Shows what a change of the pool, or time, would do to all clusters. */
export const licensePreviewCommand: Command = {
  name: "license preview",
  summary: "show what a new license, a deletion or a date would change, without changing it",
  operands: "add <file> | delete <license> | at <time>",
  options: licenseOptions,
  run: async (invocation, context) => {
    const [action, subject] = invocation.positionals;
    if (action === undefined || subject === undefined)
      throw usageError("required operands: add <file>, delete <license> or at <time>");
    const view = await viewLicenses(invocation, context);
    const before = explainLicenses(view.state, view.nowMs, view.settings);
    const after = await changed(view, action, subject);
    const changes = changesOf(before, explainLicenses(after.state, after.nowMs, view.settings));
    const rows = changes.map(({ cluster, from, to, reason }) => [cluster, from, "->", to, reason]);
    const text =
      rows.length === 0 ? "no cluster changes" : table([["CLUSTER", "FROM", "", "TO", "REASON"], ...rows]);
    print(context.terminal, invocation.format, { data: changes, text });
    return exitCode.ok;
  },
};

type Changed = Pick<LicenseView, "state" | "nowMs">;

async function changed(
  { state, nowMs, settings }: LicenseView,
  action: string,
  subject: string,
): Promise<Changed> {
  if (action === "at") return { state, nowMs: momentOf(subject) };
  if (action === "delete") {
    const enterprise = state.enterprise.filter(({ metadata }) => metadata.name !== subject);
    if (enterprise.length === state.enterprise.length)
      throw new CliError(`no EnterpriseLicense ${subject}`, exitCode.notFound);
    return { state: { ...state, enterprise }, nowMs };
  }
  if (action !== "add") throw usageError(`unknown preview ${action}: add, delete or at`);
  return { state: withFile(state, await readFile(subject, "utf8"), settings.licenseNamespace), nowMs };
}

function momentOf(text: string): number {
  const momentMs = Date.parse(text);
  if (Number.isNaN(momentMs)) throw usageError(`${text} is not a time, e.g. 2027-01-31T00:00:00Z`);
  return momentMs;
}

function withFile(state: LicenseState, text: string, namespace: string): LicenseState {
  const file = readLicenseFile(text);
  if (file.kind === "unreadable") throw new CliError(file.message);
  if (file.kind === "stack")
    throw new CliError("WrongLicenseKind: only enterprise licenses can be added to the pool");
  const { license, secret } = importLicense(file, { name: "preview", namespace, isEulaAccepted: true });
  const identity = { uid: "preview", resourceVersion: "0", name: "preview", namespace };
  const data = Object.entries(secret["stringData"] ?? {}).map(([key, value]): [string, string] => [
    key,
    btoa(String(value)),
  ]);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what the server would make of the manifests
  const added = { ...license, metadata: identity } as unknown as Live<EnterpriseLicense>;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- likewise
  const signatures = {
    ...secret,
    data: Object.fromEntries(data),
    metadata: { ...identity, name: "preview-signatures" },
  } as unknown as Live<Secret>;
  return { ...state, enterprise: [...state.enterprise, added], secrets: [...state.secrets, signatures] };
}

interface Change {
  readonly cluster: string;
  readonly from: string;
  readonly to: string;
  readonly reason: string;
}

function changesOf(
  before: readonly ExplainedCluster[],
  after: readonly ExplainedCluster[],
): readonly Change[] {
  const known = new Map(before.map((each) => [each.cluster.metadata.uid, each]));
  return after.flatMap(({ cluster, binding }): readonly Change[] => {
    const earlier = known.get(cluster.metadata.uid)?.binding;
    const from = earlier === undefined ? "nothing" : outcomeOf({ cluster, binding: earlier });
    const to = outcomeOf({ cluster, binding });
    const { reason } = binding.selection;
    const isSame = from === to && earlier?.selection.reason === reason;
    return isSame
      ? []
      : [{ cluster: `${cluster.metadata.namespace}/${cluster.metadata.name}`, from, to, reason }];
  });
}

function outcomeOf({ cluster, binding: { selection } }: ExplainedCluster): string {
  if (selection.choice.kind === "use") return selection.choice.candidate.uid;
  const current = cluster.status?.license?.uid;
  if (selection.choice.kind !== "keep") return selection.choice.kind;
  return current === undefined ? "nothing" : `${current} (kept)`;
}
