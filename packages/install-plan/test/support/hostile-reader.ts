import { parentPort } from "node:worker_threads";

import { cpuMs } from "@quartermaster/testkit";

import { readYaml } from "../../src/manifest/read-yaml.ts";

/** Runs in a worker: reads each text it is sent, and answers with how that went. */
parentPort?.on("message", (text: string) => {
  const { documents, issues } = readYaml(text);
  const tookMs = cpuMs(() => readYaml(text));
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- the port of a worker has no origin
  parentPort?.postMessage({ tookMs, documents: documents.length, issues: issues.length });
});
