import { parentPort } from "node:worker_threads";

import { readYaml } from "../../src/manifest/read-yaml.ts";

/** Runs in a worker: reads each text it is sent, and answers with how that went. */
parentPort?.on("message", (text: string) => {
  // Once before, so that what is measured is the reading and not the compiling.
  readYaml("a: 1");
  const startMs = performance.now();
  const { documents, issues } = readYaml(text);
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- the port of a worker has no origin
  parentPort?.postMessage({
    tookMs: performance.now() - startMs,
    documents: documents.length,
    issues: issues.length,
  });
});
