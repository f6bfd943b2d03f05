import { installPlan } from "@quartermaster/api";
import { checkExpression } from "@quartermaster/install-plan/health";
import { flattenList, objectFaults } from "@quartermaster/install-plan/pack";

import type { Command } from "../command.ts";
import { usageError } from "../errors.ts";
import { exitCode } from "../exit-code.ts";
import { readInput } from "../input/read-input.ts";
import { print } from "../output/print.ts";

/** Checks plans in files as far as that goes without a cluster. */
export const planValidateCommand: Command = {
  name: "plan validate",
  summary: "check InstallPlans in files without a cluster",
  operands: "<file | folder | ->…",
  options: {},
  run: async ({ positionals, format }, { terminal, readStandardInput }) => {
    if (positionals.length === 0) throw usageError("name a file, a folder or - for standard input");
    const { documents, faults } = await readInput(positionals, readStandardInput);
    const wrong = [
      ...faults,
      ...documents.flatMap(({ value, source }) => faultsOf(value).map((fault) => `${source}: ${fault}`)),
    ];
    const text = wrong.length === 0 ? `documents: ${documents.length}, all fine` : wrong.join("\n");
    print(terminal, format, { data: { documents: documents.length, faults: wrong }, text });
    return wrong.length === 0 ? exitCode.ok : exitCode.failed;
  },
};

function faultsOf(value: unknown): readonly string[] {
  const issues = installPlan.check(value).map(({ path, message }) => `${path}: ${message}`);
  if (issues.length > 0) return issues;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the kind's own check has just passed
  const { spec } = value as NonNullable<(typeof installPlan.kind)["objectType"]>;
  return spec.stages.flatMap(({ name, resources = [] }) =>
    resources.flatMap(({ manifest, readiness }, index) =>
      [...manifestFaults(manifest), ...expressionFaults(readiness?.checks ?? [])].map(
        (fault) => `stage ${name}, resource ${index}: ${fault}`,
      ),
    ),
  );
}

function manifestFaults(manifest: unknown): readonly string[] {
  if (manifest === undefined) return [];
  const flattened = flattenList(manifest);
  if (flattened.kind === "refused") return [flattened.message];
  return flattened.items.flatMap((item) =>
    objectFaults(item).map(({ field, message }) => `${field} ${message}`),
  );
}

function expressionFaults(
  checks: readonly { readonly cel?: { readonly expression: string } | undefined }[],
): readonly string[] {
  return checks.flatMap(({ cel }) => (cel === undefined ? [] : (checkExpression(cel.expression) ?? [])));
}
