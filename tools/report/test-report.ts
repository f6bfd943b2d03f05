/** How one test ended. Skipped, pending and todo are the same to us: it showed nothing. */
export type TestStatus = "passed" | "failed" | "skipped";

/** One test of a report. */
export interface TestResult {
  readonly title: string;
  /** Titles of the enclosing describes and of the test, joined by blanks. */
  readonly fullName: string;
  readonly status: TestStatus;
  readonly messages: readonly string[];
  /** What it said in the first run, where it passed in the second only. */
  readonly failedBefore?: readonly string[];
}

/** One test file of a report; `brokenBy` holds the reason when the file failed outside its tests, e.g. on import. */
export interface TestFile {
  readonly path: string;
  readonly brokenBy: string | undefined;
  readonly tests: readonly TestResult[];
}

/** One run of one level. */
export interface TestReport {
  readonly level: string;
  readonly files: readonly TestFile[];
}

/** Reads the JSON that vitest's json reporter wrote; throws when it has another shape. */
export function parseTestReport(level: string, text: string): TestReport {
  const report = asRecord(JSON.parse(text), `report of ${level}`);
  return { level, files: asList(report["testResults"], "testResults").map(parseFile) };
}

function parseFile(value: unknown): TestFile {
  const file = asRecord(value, "test file");
  const tests = asList(file["assertionResults"], "assertionResults").map(parseTest);
  const isBroken = file["status"] === "failed" && tests.every(({ status }) => status !== "failed");
  return {
    path: asText(file["name"]),
    brokenBy: isBroken ? asText(file["message"]) : undefined,
    tests,
  };
}

function parseTest(value: unknown): TestResult {
  const test = asRecord(value, "test");
  return {
    title: asText(test["title"]),
    fullName: asText(test["fullName"]),
    status: parseStatus(test["status"]),
    messages: asList(test["failureMessages"] ?? [], "failureMessages").map(asText),
  };
}

function parseStatus(value: unknown): TestStatus {
  return value === "passed" || value === "failed" ? value : "skipped";
}

function asRecord(value: unknown, what: string): Readonly<Record<string, unknown>> {
  if (typeof value !== "object" || value === null) throw new Error(`the ${what} is not an object`);
  return Object.fromEntries(Object.entries(value));
}

function asList(value: unknown, what: string): readonly unknown[] {
  if (!Array.isArray(value)) throw new Error(`${what} is not a list`);
  return value;
}

function asText(value: unknown): string {
  return typeof value === "string" ? value : "";
}
