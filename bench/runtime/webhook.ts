import { pods } from "../contestants/kinds.ts";
import type { Row } from "../table.ts";
import { median } from "../table.ts";
import type { Bed } from "./bed.ts";
import { writeCertificates } from "./certificates.ts";
import {
  Contestant,
  contestantProgram,
  metric,
  operatorProgram,
  type Program,
  type Output,
} from "./contestant.ts";
import { somePods } from "./objects.ts";

const namespace = "webhook";
const rounds = 3;

/** How long an admission takes at 200 reviews per second: in peace, and while the same process fills a store of pods. */
export async function benchWebhook(bed: Bed): Promise<readonly Row[]> {
  const count = bed.isQuick ? 3_000 : 10_000;
  const reviews = bed.isQuick ? 600 : 2_000;
  await bed.fill(namespace, pods, somePods(namespace, count));
  const caPem = await writeCertificates(bed.directory);
  const rows: Row[] = [];
  for (const location of locations) rows.push(...(await measure(bed, { location, count, reviews, caPem })));
  return rows;
}

/** Where reviews are answered. `bare` shows what the machine allows: a process that does nothing but answer. */
const locations = ["in the operator", "bare server in another process"] as const;

interface Case {
  readonly location: (typeof locations)[number];
  readonly count: number;
  readonly reviews: number;
  readonly caPem: string;
}

async function measure(bed: Bed, { location, count, reviews, caPem }: Case): Promise<readonly Row[]> {
  await using stack = new AsyncDisposableStack();
  const settings = bed.settings({ namespace, count });
  const enter = (program: Program): Contestant => stack.use(new Contestant(program));
  const webhook = enter(operatorProgram("webhook", settings));
  const ready = await webhook.hear();
  const isBare = location === "bare server in another process";
  const { port } = isBare ? await enter(contestantProgram("webhook-bare", settings)).hear() : ready;
  const server = `https://127.0.0.1:${Number(port)}/pods`;
  const caller = enter(
    contestantProgram("webhook-caller", bed.settings({ namespace, server, caPem, count: reviews })),
  );
  await caller.hear();
  await caller.request("go"); // warms up
  const quiet = await laps(caller);
  await webhook.request("resync");
  await caller.request("go");
  const busy = await laps(caller);
  const resyncs = metric(await webhook.request("rest"), "resyncs");
  const what = `webhook at 200 reviews/s, ${location}: p99`;
  const row = (when: string, output: readonly Output[], bar: string): Row => ({
    what: `${what}, ${when}`,
    measured: p99(output),
    ...(isBare ? {} : { bar }),
  });
  return [
    row("quiet", quiet, "≤ 5 ms"),
    row(`while ${count} pods re-sync in a loop`, busy, "≤ 20 ms"),
    { what: `  quiet ${shown(quiet)}; busy ${shown(busy)}, ${resyncs} re-syncs`, measured: "" },
  ];
}

async function laps(caller: Contestant): Promise<readonly Output[]> {
  const output: Output[] = [];
  for (let round = 0; round < rounds; round += 1) output.push(await caller.request("go"));
  return output;
}

function p99(output: readonly Output[]): string {
  return milliseconds(output, "p99");
}

function shown(output: readonly Output[]): string {
  return `p50 ${milliseconds(output, "p50")}, max ${milliseconds(output, "max")}`;
}

function milliseconds(output: readonly Output[], name: string): string {
  return `${median(output.map((lap) => metric(lap, name))).toFixed(1)} ms`;
}
