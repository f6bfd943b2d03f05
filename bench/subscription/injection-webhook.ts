import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { loadavg } from "node:os";
import { isDeepStrictEqual } from "node:util";

import { bundle, clusterBundle } from "@quartermaster/api";
import type { Kind } from "@quartermaster/runtime";
import { secrets } from "@quartermaster/runtime/kinds";
import { serveKinds } from "@quartermaster/testkit";
import * as z from "zod";

import { pods } from "../contestants/kinds.ts";
import { buildGoProgram } from "../programs.ts";
import type { Bed } from "../runtime/bed.ts";
import { writeCertificates } from "../runtime/certificates.ts";
import {
  Contestant,
  contestantProgram,
  metric,
  operatorProgram,
  type Output,
} from "../runtime/contestant.ts";
import { somePods } from "../runtime/objects.ts";
import { inRounds, medianOf, medianRatio } from "../runtime/rounds.ts";
import { type Row, times } from "../table.ts";

const namespace = "subscription";
const path = "/subscription/pods";

/** Reviews per second that are tried, until one of the two no longer keeps up. */
const rates = [50, 100, 200, 400, 600, 800, 1_000, 1_400];

/**
 * Admission of a pod that names two Bundles: the webhook role as shipped, and a minimal webhook in Go that decides the same. Quiet, and
 * while the same process lists all pods again and again, the highest rate that both hold is found; there they are measured in turns.
 */
export async function benchInjectionWebhook(bed: Bed): Promise<readonly Row[]> {
  const count = bed.isQuick ? 2_000 : 10_000;
  await using stack = new AsyncDisposableStack();
  const webhooks = await startWebhooks(bed, count, stack);
  await assertSameDecision(webhooks);
  const rounds = bed.isQuick ? 3 : 5;
  return [
    ...(await benchWhile("quiet", {
      webhooks,
      rounds,
      lapOf: async ({ caller }, rate) => await caller.request(`go ${rate}`),
    })),
    ...(await benchWhile("while all pods re-sync in a loop", { webhooks, rounds, lapOf: duringResync })),
    { what: "load of the machine at the end", measured: loadNow() },
  ];
}

/** One of the two circumstances. */
interface Circumstances {
  readonly webhooks: Webhooks;
  readonly rounds: number;
  readonly lapOf: LapOf;
}

/** Measures one webhook at a rate. */
type LapOf = (measured: Measured, rate: number) => Promise<Output>;

/** A webhook that does not hold a rate has a backlog that grows: its latency would say how long the lap was. */
async function benchWhile(when: string, circumstances: Circumstances): Promise<readonly Row[]> {
  for (const rate of await ratesHeld(circumstances)) {
    const laps = await measure(circumstances, rate);
    // Half of the laps may meet the work of other processes on the machine.
    if (laps.every((each) => each.filter(isHeld).length > circumstances.rounds / 2))
      return [
        { what: `highest rate that both hold, ${when}`, measured: `${rate} reviews/s` },
        ...rowsOf(when, laps),
      ];
  }
  // Other processes take the machine: both are still measured in the same circumstances.
  const [lowest = 1] = rates;
  const laps = await measure(circumstances, lowest);
  return [
    { what: `lowest rate, which is not held by both, ${when}`, measured: `${lowest} reviews/s` },
    ...rowsOf(when, laps),
  ];
}

/** A webhook, and who calls it. */
interface Measured {
  readonly webhook: Contestant;
  readonly caller: Contestant;
}

interface Webhooks {
  readonly ours: Measured;
  readonly go: Measured;
}

async function startWebhooks(bed: Bed, count: number, stack: AsyncDisposableStack): Promise<Webhooks> {
  const peer = buildGoProgram({ name: "controller-runtime-go", package: "./webhook" });
  await serveKinds(bed.client, [bundle.kind, clusterBundle.kind] as readonly Kind[]);
  await bed.fill(namespace, pods, somePods(namespace, count));
  for (const name of ["local", "driver"]) await createBundle(bed, name);
  const caPem = await writeCertificates(bed.directory);
  const callerOf = async (port: number): Promise<Contestant> => {
    const server = `https://127.0.0.1:${port}${path}`;
    const settings = bed.settings({ namespace, server, caPem });
    const caller = stack.use(new Contestant(contestantProgram("webhook-caller", settings)));
    await caller.hear();
    return caller;
  };
  const settings = bed.settings({ namespace, count });
  const ours = stack.use(new Contestant(operatorProgram("subscription-webhook", settings)));
  const oursPort = metric(await ours.hear(), "port");
  const goPort = await freePort();
  const args = [
    `--kubeconfig=${bed.cluster.kubeconfigPath}`,
    `--namespace=${namespace}`,
    `--port=${goPort}`,
    `--certificates=${bed.directory}`,
  ];
  const go = stack.use(new Contestant({ command: peer, args }));
  await go.hear();
  return {
    ours: { webhook: ours, caller: await callerOf(oursPort) },
    go: { webhook: go, caller: await callerOf(goPort) },
  };
}

async function createBundle({ client }: Bed, name: string): Promise<void> {
  const metadata = { name, namespace };
  await client.create(secrets, {
    apiVersion: "v1",
    kind: "Secret",
    metadata,
    data: { [`${name}.pem`]: Buffer.alloc(8_192, "x").toString("base64") },
  });
  const { apiVersion, kind } = { apiVersion: "subscription.openshift.io/v1alpha1", kind: "Bundle" };
  await client.create(bundle.kind, {
    apiVersion,
    kind,
    metadata,
    spec: { entitlements: [{ name, optional: false }] },
  });
}

/** A comparison of two different decisions would say nothing. */
async function assertSameDecision({ ours, go }: Webhooks): Promise<void> {
  const [one, other] = [await patchOf(ours), await patchOf(go)];
  if (!isDeepStrictEqual(one, other))
    throw new Error(`the webhooks decide differently: ${JSON.stringify({ ours: one, go: other })}`);
}

const responseSchema = z.object({ response: z.object({ patch: z.string() }) });
const patchSchema = z.array(z.object({ op: z.string(), path: z.string(), value: z.unknown() }));

/** The operations of its response. Theirs concern different fields of the pod, so that their order says nothing. */
async function patchOf({ caller }: Measured): Promise<z.infer<typeof patchSchema>> {
  const { response } = await caller.request("decision");
  const { patch } = responseSchema.parse(JSON.parse(z.string().parse(response))).response;
  const operations = patchSchema.parse(JSON.parse(Buffer.from(patch, "base64").toString()));
  return operations.toSorted((a, b) => a.path.localeCompare(b.path));
}

/** The rates that both hold in a first try, the highest first. */
async function ratesHeld(circumstances: Circumstances): Promise<readonly number[]> {
  const held: number[] = [];
  for (const rate of rates) {
    await lapsAt(circumstances, rate); // warms up
    if (!(await areHeld(circumstances, rate))) break;
    held.unshift(rate);
  }
  return held;
}

/** Both hold the rate in one of three tries: a try may meet the work of other processes. */
async function areHeld(circumstances: Circumstances, rate: number): Promise<boolean> {
  for (let tries = 0; tries < 3; tries += 1) {
    if ((await lapsAt(circumstances, rate)).every(isHeld)) return true;
  }
  return false;
}

async function lapsAt(
  { webhooks: { ours, go }, lapOf }: Circumstances,
  rate: number,
): Promise<readonly Output[]> {
  return [await lapOf(ours, rate), await lapOf(go, rate)];
}

/** The last answer came when the last call had just been made: no backlog grew. */
function isHeld(lap: Output): boolean {
  return metric(lap, "tookMs") <= 1.1 * metric(lap, "plannedMs");
}

/** What was measured in each round, ours first, then Go's. */
type Pair = readonly [readonly Output[], readonly Output[]];

async function measure(
  { webhooks: { ours, go }, rounds, lapOf }: Circumstances,
  rate: number,
): Promise<Pair> {
  const laps = await inRounds(rounds, {
    ours: async () => await lapOf(ours, rate),
    go: async () => await lapOf(go, rate),
  });
  return pairOf(laps);
}

function pairOf({ ours = [], go = [] }: Readonly<Record<string, readonly Output[]>>): Pair {
  return [ours, go];
}

async function duringResync({ webhook, caller }: Measured, rate: number): Promise<Output> {
  await webhook.request("resync");
  const lap = await caller.request(`go ${rate}`);
  await webhook.request("rest");
  return lap;
}

function rowsOf(when: string, [ours, go]: Pair): readonly Row[] {
  const both = (name: string): string =>
    [ours, go].map((laps) => `${medianOf(laps, (lap) => metric(lap, name)).toFixed(1)} ms`).join("; ");
  const ratio = medianRatio(ours, go, (lap) => metric(lap, "p99"));
  return [
    { what: `p50, ${when}: ours; Go`, measured: both("p50") },
    { what: `p99, ${when}: ours; Go`, measured: both("p99") },
    { what: `p99, ${when}: ours / Go`, measured: times(ratio), bar: "≤ 1.5 ×" },
  ];
}

function loadNow(): string {
  const [oneMinute = Number.NaN] = loadavg();
  return oneMinute.toFixed(1);
}

async function freePort(): Promise<number> {
  await using server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it listens on a port, not on a socket
  return (server.address() as AddressInfo).port;
}
