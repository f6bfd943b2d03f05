/** Prints which acceptance cases the last test run met; exits 0 when all are met, 3 when some are missing, 1 when one fails. */
import { readReports } from "../report/read-reports.ts";
import { originLines, readOrigins } from "../report/report-origins.ts";
import { readCaseLists } from "./case-list.ts";
import { exitCodeOf, judgeCases } from "./judge-cases.ts";
import { printJudgement } from "./print-judgement.ts";

const reports = readReports(".reports");
const judgement = judgeCases(readCaseLists("docs/acceptance"), reports);
console.log(printJudgement(judgement).join("\n"));
console.log(originLines(readOrigins(".reports"), Date.now()).join("\n"));
if (reports.length === 0) console.error("There is no test report yet: run `make test` first.");
process.exitCode = reports.length > 0 ? exitCodeOf(judgement) : 1;
