import type { ClusterLicense, EnterpriseLicense } from "@quartermaster/api/licensing";
import { effectiveExpiryMs } from "@quartermaster/license-selection";
import { type ExplainedCluster, explainLicenses, type LicenseState } from "@quartermaster/licensing";
import type { Live } from "@quartermaster/runtime";

import { licenseOptions, viewLicenses } from "../cluster/view-licenses.ts";
import type { Command } from "../command.ts";
import { CliError, exitCode, usageError } from "../errors.ts";
import { print } from "../output/print.ts";
import { table } from "../render/table.ts";

/** Says which license a cluster gets, and why no other one. */
export const licenseExplainCommand: Command = {
  name: "license explain",
  summary: "explain which license a cluster gets, with a verdict for every candidate",
  operands: "<cluster>",
  options: licenseOptions,
  run: async (invocation, context) => {
    const [name] = invocation.positionals;
    if (name === undefined) throw usageError("required operand <cluster> not set");
    const { state, settings, nowMs, namespace } = await viewLicenses(invocation, context);
    const explained = explainLicenses(state, nowMs, settings).find(
      ({ cluster: { metadata } }) => metadata.name === name && metadata.namespace === namespace,
    );
    if (explained === undefined)
      throw new CliError(`no ElasticsearchCluster ${name} in namespace ${namespace}`, exitCode.notFound);
    const note = unjudged(state, { namespace, licenseNamespace: settings.licenseNamespace });
    const data = { ...explanationOf(explained), ...(note === undefined ? {} : { note }) };
    print(context.terminal, invocation.format, { data, text: textOf(data) });
    return note === undefined ? exitCode.ok : exitCode.notReady;
  },
};

/** Says so where no license controller has judged what the decision depends on: then no license is applied. */
function unjudged(
  { enterprise, licenses }: LicenseState,
  { namespace, licenseNamespace }: { readonly namespace: string; readonly licenseNamespace: string },
): string | undefined {
  const judgeable: readonly Live<EnterpriseLicense | ClusterLicense>[] = [
    ...enterprise.filter(({ metadata }) => metadata.namespace === licenseNamespace),
    ...licenses.filter(({ metadata }) => metadata.namespace === namespace),
  ];
  const found = judgeable.find(({ metadata, status }) => status?.observedGeneration !== metadata.generation);
  if (found === undefined) return undefined;
  return `No license controller has judged ${found.kind} ${found.metadata.name}, so no license is applied: check that the operator runs, and that its flag --domains has licensing.`;
}

interface Explanation {
  readonly cluster: string;
  readonly decision: string;
  readonly choice: string;
  readonly current: string;
  readonly nextChange: string;
  readonly candidates: readonly Candidate[];
  /** Why the decision has no effect. */
  readonly note?: string;
}

interface Candidate {
  readonly verdict: string;
  readonly type: string;
  readonly expiry: string;
  readonly uid: string;
  readonly source: string;
}

function explanationOf({ cluster, binding: { selection, candidates } }: ExplainedCluster): Explanation {
  const { choice, reason, wakeAtMs, verdicts } = selection;
  const { uid, type } = cluster.status?.license ?? {};
  return {
    cluster: `${cluster.metadata.namespace}/${cluster.metadata.name}`,
    decision: reason,
    choice: choice.kind === "use" ? choice.candidate.uid : choice.kind,
    current: uid === undefined ? "none reported" : `${uid} (${type ?? "unknown type"})`,
    nextChange: wakeAtMs === undefined ? "none" : dateText(wakeAtMs),
    candidates: candidates.map((candidate, at) => ({
      verdict: verdicts[at] ?? "",
      type: candidate.type,
      expiry: dateText(effectiveExpiryMs(candidate)),
      uid: candidate.uid,
      source: candidate.source,
    })),
  };
}

function dateText(momentMs: number): string {
  return new Date(momentMs).toISOString().slice(0, 16).replace("T", " ");
}

function textOf({ cluster, decision, choice, current, nextChange, candidates, note }: Explanation): string {
  const rows = candidates.map(({ verdict, type, expiry, uid, source }) => [
    verdict,
    type,
    expiry,
    uid,
    source,
  ]);
  return [
    `cluster   ${cluster}`,
    `decision  ${decision}: ${choice}`,
    `current   ${current}`,
    `next      ${nextChange}`,
    ...(note === undefined ? [] : [`note      ${note}`]),
    "",
    rows.length === 0 ? "no candidates" : table([["VERDICT", "TYPE", "EXPIRES", "UID", "SOURCE"], ...rows]),
  ].join("\n");
}
