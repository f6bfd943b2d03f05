import { join } from "node:path";

import { defineConfig } from "vitest/config";

import { LongestFirst } from "./tools/test-run/longest-first.ts";

const minuteMs = 60_000;

// Node keeps what it compiled, so that the process of each test file, and each operator that a test starts, need not compile it again.
// oxlint-disable-next-line qm/system-access -- Node reads it when a process starts; the runner hands it on to its own
process.env["NODE_COMPILE_CACHE"] ??= join(import.meta.dirname, "node_modules/.cache/compiled");

/** Node 24 runs our TypeScript as it is: nothing has to be transformed for tests either. */
const experimental = { viteModuleRunner: false, nodeLoader: false };

/** Test levels are directories: the npm scripts run one project each and write `.reports/<level>.json`. */
export default defineConfig({
  test: {
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        test: {
          name: "unit",
          include: [
            "packages/*/test/unit/**/*.test.ts",
            "apps/*/test/unit/**/*.test.ts",
            "tools/test/**/*.test.ts",
            "deploy/test/unit/**/*.test.ts",
          ],
          // Processes, because some tests measure memory. Without this the runner leaves one core idle.
          pool: "forks",
          isolate: false,
          experimental,
          maxWorkers: 3,
          // A busy machine must not decide a test.
          testTimeout: minuteMs,
        },
      },
      {
        test: {
          name: "integration",
          include: [
            "packages/*/test/integration/**/*.test.ts",
            "apps/*/test/integration/**/*.test.ts",
            "deploy/test/integration/**/*.test.ts",
          ],
          pool: "forks",
          // A process takes one file after the other: to start one and to import a domain takes a second of CPU time.
          isolate: false,
          experimental,
          // Three times the cores, although the control plane needs them too: most tests wait most of the time.
          maxWorkers: 6,
          testTimeout: 2 * minuteMs,
          hookTimeout: 2 * minuteMs,
          // One control plane for the whole run, torn down at its end.
          globalSetup: ["@quartermaster/testkit/shared-cluster"],
        },
      },
      {
        test: {
          name: "e2e",
          include: [
            "packages/*/test/e2e/**/*.test.ts",
            "apps/*/test/e2e/**/*.test.ts",
            "deploy/test/e2e/**/*.test.ts",
          ],
          pool: "forks",
          experimental,
          globalSetup: ["@quartermaster/testkit/real-nodes"],
          // Every cluster has its own nodes, networks and names. Two at a time leave the cores idle while engines form clusters.
          maxWorkers: 3,
          testTimeout: 5 * minuteMs,
          hookTimeout: 5 * minuteMs,
        },
      },
    ],
  },
});
