import { benchLocalCluster } from "./local-cluster.ts";
import type { Section } from "./table.ts";
import { printSection } from "./table.ts";

/** Every part of the benchmarks, by the name that selects it. */
const sections: Readonly<Record<string, (options: { readonly isCold: boolean }) => Promise<Section>>> = {
  "local-cluster": benchLocalCluster,
};

const words = process.argv.slice(2);
const chosen = words.filter((word) => !word.startsWith("--"));
const unknown = chosen.filter((word) => !(word in sections));
if (unknown.length > 0)
  throw new Error(
    `there is no benchmark ${unknown.join(", ")}; there are ${Object.keys(sections).join(", ")}`,
  );

for (const [name, run] of Object.entries(sections)) {
  if (chosen.length > 0 && !chosen.includes(name)) continue;
  printSection(await run({ isCold: words.includes("--cold") }));
}
