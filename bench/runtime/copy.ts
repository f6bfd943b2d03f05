import { eventually } from "@quartermaster/testkit";

import { configMaps, copies } from "../contestants/kinds.ts";
import type { ProcessUsage } from "../process-usage.ts";
import type { Row } from "../table.ts";
import { megabytes, times } from "../table.ts";
import type { Bed } from "./bed.ts";
import { Contestant, operatorFlags, operatorProgram, type Program } from "./contestant.ts";
import { someCopies } from "./objects.ts";
import { buildGoPeer, bundle } from "./programs.ts";
import { inRounds, medianOf, medianRatio } from "./rounds.ts";

interface Copied extends ProcessUsage {
  readonly wallMs: number;
}

/** The copy controller over 1,000 objects, from the start of its process to the last ConfigMap: ours against Go's. */
export async function benchCopy(bed: Bed): Promise<readonly Row[]> {
  const count = bed.isQuick ? 300 : 1_000;
  const go = buildGoPeer();
  const bundled = await bundle("copy");
  const { kubeconfigPath } = bed.cluster;
  let serial = 0;
  const run = (programOf: (namespace: string) => Program) => async (): Promise<Copied> => {
    serial += 1;
    const namespace = `copy-${serial}`;
    await bed.fill(namespace, copies, someCopies(namespace, count));
    return await copyAll(bed, { namespace, count }, programOf(namespace));
  };
  const contestants = {
    go: run((namespace) => ({
      command: go,
      args: ["--kubeconfig", kubeconfigPath, "--namespace", namespace],
    })),
    bundled: run((namespace) => ({
      command: process.execPath,
      args: [...operatorFlags, bundled, bed.settings({ namespace })],
    })),
    unbuilt: run((namespace) => operatorProgram("copy", bed.settings({ namespace }))),
  };
  await inRounds(1, contestants);
  const copied = await inRounds(bed.isQuick ? 3 : 5, contestants);
  const ratio = (ours: readonly Copied[] | undefined): string =>
    times(medianRatio(ours, copied["go"], ({ wallMs }) => wallMs));
  const show = (name: string): string => {
    const wall = medianOf(copied[name], ({ wallMs }) => wallMs).toFixed(0);
    const cpu = medianOf(copied[name], ({ cpuMs }) => cpuMs).toFixed(0);
    return `${name} ${wall} ms wall, ${cpu} ms CPU, ${megabytes(medianOf(copied[name], ({ peakBytes }) => peakBytes))} peak`;
  };
  return [
    {
      what: `copy controller over ${count} objects, bundled, against Go`,
      measured: ratio(copied["bundled"]),
      bar: "≤ 1.1 ×",
    },
    {
      what: `copy controller over ${count} objects, unbuilt, against Go`,
      measured: ratio(copied["unbuilt"]),
    },
    ...Object.keys(contestants).map((name) => ({ what: `  ${show(name)}`, measured: "" })),
  ];
}

async function copyAll(
  bed: Bed,
  { namespace, count }: { readonly namespace: string; readonly count: number },
  program: Program,
): Promise<Copied> {
  await using contestant = new Contestant(program);
  const path = `/api/v1/namespaces/${namespace}/configmaps?limit=1`;
  // The namespace's own ConfigMap with the CAs counts too.
  const isDone = async (): Promise<boolean> =>
    remaining(await bed.client.raw({ method: "GET", path })) >= count;
  await eventually(isDone, { withinMs: 120_000, everyMs: 10 });
  const wallMs = performance.now() - contestant.startedMs;
  const made = await Array.fromAsync(bed.client.list(configMaps, { namespace }));
  const right = made.filter(({ data }) => data?.["text"]?.startsWith("text of ") === true);
  if (right.length !== count) throw new Error(`${right.length} of ${count} were copied`);
  return { ...contestant.usage(), wallMs };
}

function remaining(list: unknown): number {
  const metadata: unknown =
    typeof list === "object" && list !== null && "metadata" in list ? list.metadata : undefined;
  const count: unknown =
    typeof metadata === "object" && metadata !== null && "remainingItemCount" in metadata
      ? metadata.remainingItemCount
      : 0;
  return typeof count === "number" ? count : 0;
}
