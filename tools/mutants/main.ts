/**
 * Makes one mistake after the other in a copy of the sources and shows which test notices. By default a sample of what the operators make; `--listed`
 * runs the listed mutants, `--list=<file>` those of a JSON file of the same form. `--only=<parts, with commas>` keeps those whose operator or file
 * contains a part, `--sample` and `--seed` choose others, `--integration` also runs integration tests. Listed mutants fail the command when fewer than
 * 95 % are killed; a generated one may be equivalent to the code, so that its survivors are for a reader.
 */
import { appendFileSync, mkdirSync, readFileSync } from "node:fs";
import { parseArgs } from "node:util";

import { z } from "zod";

import { mutableFiles, mutationsOf } from "./generate-mutations.ts";
import { locate } from "./listed/listed-mutant.ts";
import { listedMutants } from "./listed/listed-mutants.ts";
import { mutantLine, summarizeMutants } from "./mutant-table.ts";
import type { Mutation } from "./mutation.ts";
import { runMutants } from "./run-mutants.ts";
import { sampleOf } from "./sample.ts";

const { values } = parseArgs({
  options: {
    only: { type: "string", default: "" },
    sample: { type: "string", default: "200" },
    seed: { type: "string", default: "1" },
    listed: { type: "boolean", default: false },
    list: { type: "string" },
    integration: { type: "boolean", default: false },
  },
});
const source = process.cwd();
const mutations = chosen();
console.log(`${String(mutations.length)} mutants; those that do not compile are left out`);
mkdirSync(".reports", { recursive: true });
const results = await runMutants({
  source,
  mutations,
  withIntegration: values.integration,
  onResult: (result) => {
    console.log(mutantLine(result));
    appendFileSync(".reports/mutants.jsonl", `${JSON.stringify(result)}\n`);
  },
});
const { lines, isGood } = summarizeMutants(results);
console.log(lines.join("\n"));
process.exitCode = isGood || !isListed() ? 0 : 1;

function chosen(): readonly Mutation[] {
  const parts = values.only.split(",");
  const isMeant = ({ operator, title }: Mutation): boolean =>
    parts.some((part) => operator.includes(part) || title.includes(part));
  if (isListed())
    return rows()
      .map((row) => locate(source, row))
      .filter(isMeant);
  const all = mutableFiles(source).flatMap((file) => mutationsOf(source, file));
  return sampleOf(all.filter(isMeant), { size: Number(values.sample), seed: values.seed });
}

function isListed(): boolean {
  return values.listed || values.list !== undefined;
}

function rows(): typeof listedMutants {
  if (values.list === undefined) return listedMutants;
  const row = z.object({ package: z.string(), name: z.string(), find: z.string(), replace: z.string() });
  return z.array(row).parse(JSON.parse(readFileSync(values.list, "utf8")));
}
