import { benchInstallPlan } from "./install-plan.ts";
import { benchLicensing } from "./licensing.ts";
import { benchLocalCluster } from "./local-cluster.ts";
import { benchRuntime } from "./runtime.ts";
import { benchSearch } from "./search.ts";
import { benchShareDriver } from "./share-driver.ts";
import { benchSubscription } from "./subscription.ts";
import type { BenchOptions, Section } from "./table.ts";
import { printSection } from "./table.ts";

/** Every part of the benchmarks, by the name that selects it. */
const sections: Readonly<Record<string, (options: BenchOptions) => Promise<Section>>> = {
  "local-cluster": benchLocalCluster,
  runtime: benchRuntime,
  "install-plan": benchInstallPlan,
  "share-driver": benchShareDriver,
  licensing: benchLicensing,
  search: benchSearch,
  subscription: benchSubscription,
};

const args = process.argv.slice(2);
const chosen = args.filter((text) => !text.startsWith("--"));
const unknown = chosen.filter((text) => !(text in sections));
if (unknown.length > 0)
  throw new Error(
    `there is no benchmark ${unknown.join(", ")}; there are ${Object.keys(sections).join(", ")}`,
  );

/** What the last word with this beginning says. */
function valueOf(beginning: string): string | undefined {
  return args.findLast((text) => text.startsWith(beginning))?.slice(beginning.length);
}

const options: BenchOptions = {
  isCold: args.includes("--cold"),
  isQuick: args.includes("--quick"),
  idleMinutes: Number(valueOf("--idle-minutes=") ?? 1),
  only: args.filter((text) => text.startsWith("--only=")).flatMap((text) => text.slice(7).split(",")),
};
// What was started for it is ended with it; see `tie`.
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(1));
for (const [name, run] of Object.entries(sections)) {
  if (chosen.length > 0 && !chosen.includes(name)) continue;
  printSection(await run(options));
}
