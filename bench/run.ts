import { benchLocalCluster } from "./local-cluster.ts";
import { benchRuntime } from "./runtime.ts";
import type { BenchOptions, Section } from "./table.ts";
import { printSection } from "./table.ts";

/** Every part of the benchmarks, by the name that selects it. */
const sections: Readonly<Record<string, (options: BenchOptions) => Promise<Section>>> = {
  "local-cluster": benchLocalCluster,
  runtime: benchRuntime,
};

const words = process.argv.slice(2);
const chosen = words.filter((word) => !word.startsWith("--"));
const unknown = chosen.filter((word) => !(word in sections));
if (unknown.length > 0)
  throw new Error(
    `there is no benchmark ${unknown.join(", ")}; there are ${Object.keys(sections).join(", ")}`,
  );

const options: BenchOptions = {
  isCold: words.includes("--cold"),
  isQuick: words.includes("--quick"),
  only: words.filter((word) => word.startsWith("--only=")).flatMap((word) => word.slice(7).split(",")),
};
for (const [name, run] of Object.entries(sections)) {
  if (chosen.length > 0 && !chosen.includes(name)) continue;
  printSection(await run(options));
}
