import { setTimeout as sleep } from "node:timers/promises";

import { bundle, clusterBundle } from "@quartermaster/api";
import type { Kind } from "@quartermaster/runtime";
import { secrets } from "@quartermaster/runtime/kinds";
import { serveKinds } from "@quartermaster/testkit";

import type { Bed } from "../runtime/bed.ts";
import { writeCertificates } from "../runtime/certificates.ts";
import { Contestant, contestantProgram, figure, operatorProgram } from "../runtime/contestant.ts";
import type { Row } from "../table.ts";

const [smallBytes, largeBytes] = [1_000, 300_000];
const mib = 1024 * 1024;

/**
 * What the key names of large Secrets cost the webhook: one process answers for Bundles whose Secrets have 300 KB each, another for as
 * many with 1 KB. Each Bundle is asked for twice, from the second time on its Secret is watched.
 */
export async function benchKeyMemory(bed: Bed): Promise<readonly Row[]> {
  const count = bed.isQuick ? 100 : 500;
  await serveKinds(bed.client, [bundle.kind, clusterBundle.kind] as readonly Kind[]);
  const small = await residentAfter(bed, { namespace: "keys-small", count, sizeBytes: smallBytes });
  const large = await residentAfter(bed, { namespace: "keys-large", count, sizeBytes: largeBytes });
  const inMib = (bytes: number): string => `${(bytes / mib).toFixed(1)} MiB`;
  return [
    {
      what: `webhook, resident: ${count} Secrets of 1 KB; of 300 KB`,
      measured: `${inMib(small)}; ${inMib(large)}`,
    },
    { what: "webhook, resident: large above small", measured: inMib(large - small), bar: "≤ 20 MiB" },
  ];
}

interface Keys {
  readonly namespace: string;
  readonly count: number;
  readonly sizeBytes: number;
}

async function residentAfter(bed: Bed, { namespace, count, sizeBytes }: Keys): Promise<number> {
  await using stack = new AsyncDisposableStack();
  const names = Array.from({ length: count }, (_, at) => ({ name: `b${at}`, namespace }));
  const value = Buffer.alloc(sizeBytes, "x").toString("base64");
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
  const caPem = await writeCertificates(bed.folder);
  const webhook = stack.use(
    new Contestant(operatorProgram("subscription-webhook", bed.settings({ namespace, count }))),
  );
  const server = `https://127.0.0.1:${figure(await webhook.hear(), "port")}/subscription/pods`;
  const settings = bed.settings({ namespace, server, caPem, count });
  const caller = stack.use(new Contestant(contestantProgram("webhook-caller", settings)));
  await caller.hear();
  for (const round of [1, 2]) await caller.ask(`each ${round}`);
  // What is not needed any more is given back after a while.
  await sleep(10_000);
  return webhook.usage().residentBytes;
}
