/**
 * Prints what failed in the last run of all levels, and `N passed, N failed` as the last line.
 * Arguments: `<level>=<exit code>` for each level that was run.
 */
import { readReports } from "../report/read-reports.ts";
import { summarize } from "./summarize.ts";

const exitCodes = new Map(process.argv.slice(2).map(parseArgument));
const { lines, isGood } = summarize({ reports: readReports(".reports"), exitCodes });
console.log(lines.join("\n"));
process.exitCode = isGood ? 0 : 1;

function parseArgument(argument: string): [string, number] {
  const [level = "", code = ""] = argument.split("=");
  return [level, Number(code)];
}
