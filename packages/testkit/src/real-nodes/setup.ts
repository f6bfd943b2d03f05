import { prepareRealNodes } from "@quartermaster/local-cluster";
import type { TestProject } from "vitest/node";

declare module "vitest" {
  interface ProvidedContext {
    /** What this machine lacks for real nodes; undefined when it can have them. */
    realNodesMissing: string | undefined;
  }
}

/** Vitest's global set-up of the e2e level: installs what real nodes need, and says so where they cannot be had. */
export async function setup(project: TestProject): Promise<void> {
  const missing = await prepareRealNodes();
  if (missing !== undefined) process.stderr.write(`end-to-end tests are skipped. ${missing}\n`);
  project.provide("realNodesMissing", missing);
}
