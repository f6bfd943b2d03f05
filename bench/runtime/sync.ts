import { copies, pods } from "../contestants/kinds.ts";
import type { Row } from "../table.ts";
import { megabytes, times } from "../table.ts";
import type { Bed } from "./bed.ts";
import { Contestant, contestantProgram, metric, operatorProgram, type Program } from "./contestant.ts";
import { someCopies, somePods } from "./objects.ts";
import { inRounds, medianOf, medianRatio } from "./rounds.ts";

interface Sync {
  readonly cpuMs: number;
  readonly wallMs: number;
  readonly peakBytes: number;
}

/** Filling the store of an informer against one bare list and JSON.parse, each in a fresh process. */
export async function benchSync(bed: Bed): Promise<readonly Row[]> {
  const count = bed.isQuick ? 3_000 : 10_000;
  await bed.fill("sync-copies", copies, someCopies("sync-copies", count));
  await bed.fill("sync-pods", pods, somePods("sync-pods", count));
  return [
    ...(await benchKind(bed, { plural: "copies", count, size: "custom resources of 1 KB" })),
    ...(await benchKind(bed, { plural: "pods", count, size: "pods of 9 KB" })),
  ];
}

interface Case {
  readonly plural: string;
  readonly count: number;
  readonly size: string;
}

async function benchKind(bed: Bed, { plural, count, size }: Case): Promise<readonly Row[]> {
  const settings = bed.settings({ namespace: `sync-${plural}`, plural, count });
  const contestants = {
    bare: async () => await run(contestantProgram("sync-bare", settings)),
    ours: async () => await run(operatorProgram("sync-ours", settings)),
  };
  await inRounds(1, contestants);
  const { ours, bare } = await inRounds(bed.isQuick ? 3 : 5, contestants);
  const show = (runs: readonly Sync[] | undefined): string =>
    `${medianOf(runs, ({ cpuMs }) => cpuMs).toFixed(0)} ms CPU, ${medianOf(runs, ({ wallMs }) => wallMs).toFixed(0)} ms wall`;
  const peakOf = (runs: readonly Sync[] | undefined): string =>
    megabytes(medianOf(runs, ({ peakBytes }) => peakBytes));
  return [
    {
      what: `sync of ${count} ${size}: CPU against a bare list`,
      measured: times(medianRatio(ours, bare, ({ cpuMs }) => cpuMs)),
      bar: "≤ 1.5 ×",
    },
    { what: `sync of ${count} ${size}: peak RSS`, measured: peakOf(ours), bar: "≤ 250 MB" },
    { what: `  ours ${show(ours)}; bare ${show(bare)}, peak ${peakOf(bare)}`, measured: "" },
  ];
}

async function run(program: Program): Promise<Sync> {
  await using contestant = new Contestant(program);
  const output = await contestant.hear();
  const { peakBytes } = contestant.usage();
  return { cpuMs: metric(output, "cpuMs"), wallMs: metric(output, "wallMs"), peakBytes };
}
