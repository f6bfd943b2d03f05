import { pods } from "../contestants/kinds.ts";
import type { Row } from "../table.ts";
import { median } from "../table.ts";
import type { Bed } from "./bed.ts";
import { writeCertificates } from "./certificates.ts";
import {
  Contestant,
  contestantProgram,
  figure,
  operatorProgram,
  type Program,
  type Said,
} from "./contestant.ts";
import { somePods } from "./objects.ts";

const namespace = "webhook";
const rounds = 3;

/** How long an admission takes at 200 reviews per second: in peace, and while the same process fills a store of pods. */
export async function benchWebhook(bed: Bed): Promise<readonly Row[]> {
  const count = bed.isQuick ? 3_000 : 10_000;
  const reviews = bed.isQuick ? 600 : 2_000;
  await bed.fill(namespace, pods, somePods(namespace, count));
  const caPem = await writeCertificates(bed.folder);
  const rows: Row[] = [];
  for (const place of places) rows.push(...(await measure(bed, { place, count, reviews, caPem })));
  return rows;
}

/** Where reviews are answered. `bare` shows what the machine allows: a process that does nothing but answer. */
const places = ["in the operator", "bare server in another process"] as const;

interface Case {
  readonly place: (typeof places)[number];
  readonly count: number;
  readonly reviews: number;
  readonly caPem: string;
}

async function measure(bed: Bed, { place, count, reviews, caPem }: Case): Promise<readonly Row[]> {
  await using stack = new AsyncDisposableStack();
  const settings = bed.settings({ namespace, count });
  const enter = (program: Program): Contestant => stack.use(new Contestant(program));
  const webhook = enter(operatorProgram("webhook", settings));
  const ready = await webhook.hear();
  const isBare = place === "bare server in another process";
  const { port } = isBare ? await enter(contestantProgram("webhook-bare", settings)).hear() : ready;
  const server = `https://127.0.0.1:${Number(port)}/pods`;
  const caller = enter(
    contestantProgram("webhook-caller", bed.settings({ namespace, server, caPem, count: reviews })),
  );
  await caller.hear();
  await caller.ask("go"); // warms up
  const quiet = await laps(caller);
  await webhook.ask("resync");
  await caller.ask("go");
  const busy = await laps(caller);
  const resyncs = figure(await webhook.ask("rest"), "resyncs");
  const what = `webhook at 200 reviews/s, ${place}: p99`;
  const row = (when: string, said: readonly Said[], bar: string): Row => ({
    what: `${what}, ${when}`,
    measured: p99(said),
    ...(isBare ? {} : { bar }),
  });
  return [
    row("quiet", quiet, "≤ 5 ms"),
    row(`while ${count} pods re-sync in a loop`, busy, "≤ 20 ms"),
    { what: `  quiet ${shown(quiet)}; busy ${shown(busy)}, ${resyncs} re-syncs`, measured: "" },
  ];
}

async function laps(caller: Contestant): Promise<readonly Said[]> {
  const said: Said[] = [];
  for (let round = 0; round < rounds; round += 1) said.push(await caller.ask("go"));
  return said;
}

function p99(said: readonly Said[]): string {
  return milliseconds(said, "p99");
}

function shown(said: readonly Said[]): string {
  return `p50 ${milliseconds(said, "p50")}, max ${milliseconds(said, "max")}`;
}

function milliseconds(said: readonly Said[], name: string): string {
  return `${median(said.map((lap) => figure(lap, name))).toFixed(1)} ms`;
}
