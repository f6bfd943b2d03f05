import { type ChildProcess, spawn } from "node:child_process";
import { join } from "node:path";

import { installPlan, resourceManifest } from "@quartermaster/api";
import { eventually, type joinSharedCluster } from "@quartermaster/testkit";

const main = join(import.meta.dirname, "../../src/main.ts");

/** Where our kinds are served. */
export const plans = "/apis/install.quartermaster.dev/v1alpha1";

/** An operator as a person starts it, with what it wrote. */
export class Operator implements AsyncDisposable {
  readonly #child: ChildProcess;
  readonly #ended: Promise<number | null>;
  said = "";

  constructor(args: readonly string[]) {
    this.#child = spawn(process.execPath, [main, ...args], { stdio: ["ignore", "pipe", "pipe"] });
    for (const stream of [this.#child.stdout, this.#child.stderr])
      stream?.setEncoding("utf8").on("data", (chunk: string) => {
        this.said += chunk;
      });
    this.#ended = new Promise((resolve) => this.#child.once("exit", resolve));
  }

  async port(): Promise<number> {
    return await eventually(() => Number(/"metricsPort":(\d+)/.exec(this.said)?.[1] ?? 0) || undefined);
  }

  async end(signal?: "SIGTERM"): Promise<number | null> {
    if (signal !== undefined) this.#child.kill(signal);
    return await this.#ended;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.kill("SIGKILL");
    await this.#ended;
  }
}

type Api = ReturnType<typeof joinSharedCluster>["api"];

/** Makes the API server know our kinds. */
export async function serveKinds(api: Api): Promise<void> {
  for (const resource of [installPlan, resourceManifest]) {
    const { plural, group } = resource.kind;
    const path = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${plural}.${group}`;
    await api.apply(path, resource.definition());
    await eventually(async () => (await api.send({ path: `${plans}/${plural}` })).status === 200);
  }
}
