import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { copies } from "../contestants/kinds.ts";
import type { Row } from "../table.ts";
import { median } from "../table.ts";
import type { Bed } from "./bed.ts";
import { writeCertificates } from "./certificates.ts";
import { Contestant, contestantProgram, metric, operatorProgram } from "./contestant.ts";
import { someCopies } from "./objects.ts";

/** Changes of 10,000 objects through watch, store, queue and a reconcile that does nothing; fed by a server of our own. */
export async function benchEvents(bed: Bed): Promise<readonly Row[]> {
  const count = bed.isQuick ? 50_000 : 200_000;
  await record(bed, bed.isQuick ? 2_000 : 10_000);
  await using feeder = new Contestant(contestantProgram("feeder", bed.directory, String(count)));
  const listening = await feeder.hear();
  const kubeconfigPath = writeKubeconfig(bed.directory, metric(listening, "port"));
  const settings = bed.settings({ namespace: "events", kubeconfigPath, count });
  await using contestant = new Contestant(operatorProgram("events", settings));
  await contestant.hear();
  const laps = [];
  for (let round = 0; round < (bed.isQuick ? 3 : 5); round += 1) {
    feeder.order("go");
    laps.push(await contestant.hear());
  }
  const measured = laps.slice(1); // the first one warms up
  const perCore = median(measured.map((lap) => (count / metric(lap, "cpuMs")) * 1000));
  const perSecond = median(measured.map((lap) => (count / metric(lap, "wallMs")) * 1000));
  const passes = median(measured.map((lap) => metric(lap, "passes") / count));
  const sizeBytes = metric(listening, "frameBytes");
  return [
    {
      what: `events of ${sizeBytes} B through watch, store, queue, no-op reconcile, over TLS`,
      measured: `${perCore.toFixed(0)}/s/core`,
      bar: "≥ 50,000/s/core",
    },
    {
      what: `  ${perSecond.toFixed(0)}/s on the wall clock, ${passes.toFixed(2)} reconciles per event`,
      measured: "",
    },
  ];
}

/** Objects as the API server really tells them. */
async function record(bed: Bed, count: number): Promise<void> {
  await bed.fill("events", copies, someCopies("events", count));
  const objects = await Array.fromAsync(bed.client.list(copies, { namespace: "events" }));
  writeFileSync(join(bed.directory, "objects.json"), JSON.stringify(objects));
  await writeCertificates(bed.directory);
}

function writeKubeconfig(directory: string, port: number): string {
  const file = join(directory, "feeder.kubeconfig");
  const cluster = { server: `https://127.0.0.1:${port}`, "certificate-authority": join(directory, "ca.crt") };
  const config = {
    apiVersion: "v1",
    kind: "Config",
    "current-context": "feeder",
    clusters: [{ name: "feeder", cluster }],
    users: [{ name: "feeder", user: {} }],
    contexts: [{ name: "feeder", context: { cluster: "feeder", user: "feeder" } }],
  };
  writeFileSync(file, JSON.stringify(config));
  return file;
}
