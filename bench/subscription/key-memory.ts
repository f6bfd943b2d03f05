import { loadavg } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";

import { bundle, clusterBundle } from "@quartermaster/api";
import type { Kind } from "@quartermaster/runtime";
import { secrets } from "@quartermaster/runtime/kinds";
import { serveKinds } from "@quartermaster/testkit";

import type { Bed } from "../runtime/bed.ts";
import { writeCertificates } from "../runtime/certificates.ts";
import { Contestant, contestantProgram, metric, operatorProgram } from "../runtime/contestant.ts";
import { median, type Row } from "../table.ts";

const sizes = { "keys-small": 1_000, "keys-large": 300_000 } as const;
type Namespace = keyof typeof sizes;
const mib = 1024 * 1024;

/**
 * What the key names of large Secrets cost the webhook (AC-G3): a process answers for Bundles whose Secrets have 300 KB each, another for as
 * many with 1 KB. Each Bundle is used twice, from the second time on its Secret is watched. Both see all Bundles; pods are not
 * watched by anybody here. In turns, a new process each, for memory once taken is seldom given back.
 */
export async function benchKeyMemory(bed: Bed): Promise<readonly Row[]> {
  const count = bed.isQuick ? 100 : 500;
  await serveKinds(bed.client, [bundle.kind, clusterBundle.kind] as readonly Kind[]);
  const caPem = await writeCertificates(bed.directory);
  for (const namespace of ["keys-small", "keys-large"] as const) await fill(bed, namespace, count);
  const found: { readonly small: number; readonly large: number }[] = [];
  for (let round = 0; round < 3; round += 1) {
    const small = await residentAfter(bed, { namespace: "keys-small", count, caPem });
    const large = await residentAfter(bed, { namespace: "keys-large", count, caPem });
    found.push({ small, large });
  }
  const inMib = (values: readonly number[]): string =>
    `${values.map((bytes) => (bytes / mib).toFixed(1)).join(", ")} MiB`;
  const above = found.map(({ small, large }) => large - small);
  return [
    {
      what: `webhook, resident with ${count} Secrets of 1 KB, ${2 * count} Bundles`,
      measured: inMib(found.map(({ small }) => small)),
    },
    { what: `the same, Secrets of 300 KB`, measured: inMib(found.map(({ large }) => large)) },
    { what: "large above small, each round", measured: inMib(above) },
    { what: "large above small, median", measured: inMib([median(above)]), bar: "≤ 20 MiB" },
    { what: "load of the machine at the end", measured: (loadavg()[0] ?? Number.NaN).toFixed(1) },
  ];
}

async function fill(bed: Bed, namespace: Namespace, count: number): Promise<void> {
  const names = Array.from({ length: count }, (_, at) => ({ name: `b${at}`, namespace }));
  const value = Buffer.alloc(sizes[namespace], "x").toString("base64");
  await bed.fill(
    namespace,
    secrets,
    names.map((metadata) => ({
      apiVersion: "v1" as const,
      kind: "Secret" as const,
      metadata,
      data: { [`${metadata.name}.pem`]: value },
    })),
  );
  for (const metadata of names)
    await bed.client.create(bundle.kind, {
      apiVersion: "subscription.openshift.io/v1alpha1",
      kind: "Bundle",
      metadata,
      spec: { entitlements: [{ name: metadata.name, optional: false }] },
    });
}

interface Requested {
  readonly namespace: Namespace;
  readonly count: number;
  readonly caPem: string;
}

async function residentAfter(bed: Bed, { namespace, count, caPem }: Requested): Promise<number> {
  await using stack = new AsyncDisposableStack();
  const webhook = stack.use(
    new Contestant(operatorProgram("subscription-webhook", bed.settings({ namespace, count }))),
  );
  const server = `https://127.0.0.1:${metric(await webhook.hear(), "port")}/subscription/pods`;
  const settings = bed.settings({ namespace, server, caPem, count });
  const caller = stack.use(new Contestant(contestantProgram("webhook-caller", settings)));
  await caller.hear();
  for (const round of [1, 2]) await caller.request(`each ${round}`);
  // What is not needed any more is given back after a while.
  await sleep(10_000);
  return webhook.usage().residentBytes;
}
