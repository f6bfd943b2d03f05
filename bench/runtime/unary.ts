import { configMaps } from "../contestants/kinds.ts";
import { bodyOf, unaryObjects } from "../contestants/unary-load.ts";
import type { Row } from "../table.ts";
import { times } from "../table.ts";
import type { Bed } from "./bed.ts";
import { Contestant, contestantProgram, metric } from "./contestant.ts";
import { inRounds, medianOf, medianRatio } from "./rounds.ts";

const namespace = "unary";

interface Rate {
  readonly perSecond: number;
  readonly cpuUs: number;
}

/** Requests with 32 in flight: ours, a raw undici loop, the official client. */
export async function benchUnary(bed: Bed): Promise<readonly Row[]> {
  const objects = Array.from({ length: unaryObjects }, (_, n) => bodyOf(namespace, `unary-${n}`, n));
  await bed.fill(namespace, configMaps, objects);
  const count = bed.isQuick ? 1_000 : 3_000;
  await using ours = await entered(bed, "unary-ours", count);
  await using raw = await entered(bed, "unary-undici", count);
  await using official = await entered(bed, "unary-official", count / 10);
  const rows: Row[] = [];
  for (const order of ["get", "apply"]) {
    const contestants = {
      raw: async () => await lap(raw, order, count),
      ours: async () => await lap(ours, order, count),
      official: async () => await lap(official, order, count / 10),
    };
    await inRounds(bed.isQuick ? 1 : 2, contestants); // warms up the compilers and opens the connections
    rows.push(...rowsOf(order, await inRounds(bed.isQuick ? 5 : 9, contestants)));
  }
  return rows;
}

function rowsOf(order: string, rates: Readonly<Record<string, readonly Rate[]>>): readonly Row[] {
  const what = order === "get" ? "GET" : "server-side apply";
  const { ours, raw, official } = rates;
  const show = (name: string): string =>
    `${name} ${medianOf(rates[name], ({ perSecond }) => perSecond).toFixed(0)}/s at ${medianOf(rates[name], ({ cpuUs }) => cpuUs).toFixed(0)} µs CPU`;
  const ratio = (peer: readonly Rate[] | undefined, contestant = ours): string =>
    times(medianRatio(contestant, peer, ({ perSecond }) => perSecond));
  return [
    { what: `${what}, 32 in flight: ours against raw undici`, measured: ratio(raw), bar: "≥ 0.85 ×" },
    {
      what: `${what}, 32 in flight: ours against the official client`,
      measured: ratio(official),
      bar: `≥ 8 ×; limit on this server: raw undici reaches ${ratio(official, raw)}`,
    },
    { what: `  ${["ours", "raw", "official"].map(show).join(", ")}`, measured: "" },
    // Throughput ends where the API server does; what a request costs us does not.
    {
      what: `${what}: CPU per request, official client against ours`,
      measured: times(medianRatio(official, ours, ({ cpuUs }) => cpuUs)),
    },
  ];
}

async function entered(bed: Bed, name: string, count: number): Promise<Contestant> {
  const contestant = new Contestant(contestantProgram(name, bed.settings({ namespace, count })));
  await contestant.hear();
  return contestant;
}

async function lap(contestant: Contestant, order: string, count: number): Promise<Rate> {
  const output = await contestant.request(order);
  return {
    perSecond: (count / metric(output, "wallMs")) * 1000,
    cpuUs: (metric(output, "cpuMs") / count) * 1000,
  };
}
