import { type ResourceManifest, resourceManifest } from "@quartermaster/api";
import type { PackDocument } from "@quartermaster/install-plan/offline";

import type { Command } from "../command.ts";
import { exitCode, usageError } from "../errors.ts";
import { planFaults } from "../input/plan-faults.ts";
import { type OurDocuments, ourDocuments, readInput } from "../input/read-input.ts";
import { print } from "../output/print.ts";

/** Checks plans in files as far as that goes without a cluster. */
export const planValidateCommand: Command = {
  name: "plan validate",
  summary: "validate InstallPlans in files without a cluster",
  operands: "<file | directory | ->…",
  options: {},
  run: async ({ positionals, format }, { terminal, readStandardInput }) => {
    if (positionals.length === 0) throw usageError("specify a file, a directory or - for standard input");
    const { documents, problems } = await readInput(positionals, readStandardInput);
    const found = ourDocuments(documents);
    const wrong = [...problems, ...problemsOf(found, { isWhole: problems.length === 0 })];
    const [checked, notChecked] = [found.plans.length + found.manifests.length, found.others.length];
    const text = wrong.length === 0 ? fineText(checked, notChecked) : wrong.join("\n");
    print(terminal, format, { data: { documents: checked, notChecked, problems: wrong }, text });
    return wrong.length === 0 ? exitCode.ok : exitCode.failed;
  },
};

function fineText(checked: number, notChecked: number): string {
  const rest = notChecked === 0 ? "" : `; not checked (other kinds): ${notChecked}`;
  return `documents: ${checked}, all valid${rest}`;
}

function problemsOf(
  { plans, manifests }: OurDocuments,
  { isWhole }: { readonly isWhole: boolean },
): readonly string[] {
  if (plans.length + manifests.length === 0) return isWhole ? ["no InstallPlan found"] : [];
  const tell = ({ value, source }: PackDocument, check: (value: unknown) => readonly string[]): string[] =>
    check(value).map((problem) => `${source}: ${problem}`);
  const isSound = ({ value }: PackDocument): boolean => manifestProblems(value).length === 0;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the kind's own check has passed
  const sound = manifests.filter(isSound).map(({ value }) => value as ResourceManifest);
  return [
    ...manifests.flatMap((manifest) => tell(manifest, manifestProblems)),
    ...plans.flatMap((plan) => tell(plan, (value) => planFaults(value, sound))),
  ];
}

function manifestProblems(value: unknown): readonly string[] {
  return resourceManifest.check(value).map(({ path, message }) => `${path}: ${message}`);
}
