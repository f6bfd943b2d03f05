/**
 * Changes the code one line at a time and shows which test notices. `--only=<parts of names, with commas>` runs some of the mutants,
 * `--integration` also those that need a control plane. Fails when fewer than 95 % are noticed.
 */
import { parseArgs } from "node:util";

import { locateMutant } from "./locate-mutant.ts";
import { mutantLine, summarizeMutants } from "./mutant-table.ts";
import { mutants } from "./mutants.ts";
import { MutantListError, runMutants } from "./run-mutants.ts";

const { values } = parseArgs({
  options: { only: { type: "string", default: "" }, integration: { type: "boolean", default: false } },
});
const source = process.cwd();
const chosen = mutants.filter(
  ({ name, level }) =>
    values.only.split(",").some((part) => name.includes(part)) && (level === "unit" || values.integration),
);
const located = chosen.map((mutant) => ({ name: mutant.name, ...locateMutant(source, mutant) }));
const faulty = located.flatMap((entry) =>
  entry.kind === "faulty" ? [`${entry.name}: ${entry.message}`] : [],
);
process.exitCode = faulty.length > 0 ? fail(faulty.join("\n")) : await run();

async function run(): Promise<number> {
  console.log(`running the tests without a mutant, then ${located.length} mutants one by one`);
  try {
    const results = await runMutants({
      source,
      mutants: located.flatMap((entry) => (entry.kind === "found" ? [entry.mutant] : [])),
      onResult: (result) => {
        console.log(mutantLine(result));
      },
    });
    const { lines, isGood } = summarizeMutants(results);
    console.log(lines.join("\n"));
    return isGood ? 0 : 1;
  } catch (error) {
    if (error instanceof MutantListError) return fail(error.message);
    throw error;
  }
}

function fail(message: string): number {
  console.error(message);
  return 1;
}
