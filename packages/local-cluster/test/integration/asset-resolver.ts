import { describeProgress, type ProgressReport } from "../../src/assets/progress.ts";
import { resolveBinaries } from "../../src/assets/resolve.ts";
import { LocalClusterError } from "../../src/errors.ts";
import { realSystem } from "../../src/system/system.ts";

const report: ProgressReport = (event) => {
  process.stdout.write(`${describeProgress(event)}\n`);
};

// A resolver in a process of its own, for tests that kill it or run two at once: resolves etcd from the directory of Go modules
// given as argument, writes progress and then the path, or the code of the error, to standard output.
const goDirectory = process.argv[2] ?? "";
try {
  const binaries = await resolveBinaries({ components: ["etcd"], goDirectory, system: realSystem, report });
  process.stdout.write(`resolved ${binaries.path("etcd")}\n`);
} catch (error) {
  process.stdout.write(
    error instanceof LocalClusterError
      ? `${error.code}: ${error.message}\n`
      : `unexpected: ${String(error)}\n`,
  );
  process.exitCode = 1;
}
