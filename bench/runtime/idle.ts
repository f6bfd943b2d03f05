import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { ApiClient } from "@quartermaster/local-cluster";
import { AuditLog, eventually } from "@quartermaster/testkit";

import { configMaps, copies } from "../contestants/kinds.ts";
import type { Row } from "../table.ts";
import { megabytes, median, seconds } from "../table.ts";
import { type Bed, idleNamespace } from "./bed.ts";
import { Contestant, operatorFlags, operatorProgram, type Program } from "./contestant.ts";
import { someCopies } from "./objects.ts";
import { bundle } from "./programs.ts";

/** Start to ready, memory at rest, and what a manager with 1,000 settled objects does while nothing happens. */
export async function benchIdle(bed: Bed): Promise<readonly Row[]> {
  await bed.fill("empty", copies, []);
  const bundled = await bundle("copy");
  const pod = asPod(bed);
  const inBundle = (namespace: string): Program => ({
    command: process.execPath,
    args: [
      ...operatorFlags,
      bundled,
      bed.settings({ namespace, serviceAccountDirectory: pod.serviceAccountDirectory }),
    ],
    env: pod.env,
  });
  const unbuilt = operatorProgram("copy", bed.settings({ namespace: "empty" }));
  const resting = await residentAtRest(inBundle("empty"), bed);
  const restingUnbuilt = await residentAtRest(unbuilt, bed);
  return [
    {
      what: "start to ready, bundled",
      measured: seconds2(await startToReady(inBundle("empty"))),
      bar: "≤ 1 s",
    },
    { what: "start to ready, unbuilt", measured: seconds2(await startToReady(unbuilt)) },
    { what: "idle manager: RSS, bundled", measured: megabytes(resting), bar: "≤ 90 MB" },
    { what: "idle manager: RSS, unbuilt", measured: megabytes(restingUnbuilt) },
    ...(await settledObjects(bed, inBundle(idleNamespace))),
  ];
}

/** What a pod finds: the files of its service account, and where the API server is. */
function asPod({ directory, cluster: { admin } }: Bed): {
  readonly serviceAccountDirectory: string;
  readonly env: Readonly<Record<string, string>>;
} {
  const serviceAccountDirectory = join(directory, "service-account");
  mkdirSync(serviceAccountDirectory, { recursive: true });
  const files = { token: admin.token ?? "", "ca.crt": admin.caPem, namespace: "default" };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(serviceAccountDirectory, name), text);
  const { hostname, port } = new URL(admin.server);
  return {
    serviceAccountDirectory,
    env: { KUBERNETES_SERVICE_HOST: hostname, KUBERNETES_SERVICE_PORT: port },
  };
}

function seconds2(ms: number): string {
  return ms < 10_000 ? `${(ms / 1000).toFixed(2)} s` : seconds(ms);
}

async function startToReady(program: Program): Promise<number> {
  const laps: number[] = [];
  for (let round = 0; round < 6; round += 1) {
    await using contestant = new Contestant(program);
    await contestant.hear();
    laps.push(performance.now() - contestant.startedMs);
  }
  return median(laps.slice(1));
}

async function residentAtRest(program: Program, { isQuick }: Bed): Promise<number> {
  await using contestant = new Contestant(program);
  await contestant.hear();
  await sleep(isQuick ? 3_000 : 15_000);
  return contestant.usage().residentBytes;
}

async function settledObjects(bed: Bed, program: Program): Promise<readonly Row[]> {
  const count = bed.isQuick ? 200 : 1_000;
  const watchedMs = bed.idleMinutes * 60_000;
  await bed.fill(idleNamespace, copies, someCopies(idleNamespace, count));
  await using contestant = new Contestant(program);
  await contestant.hear();
  await eventually(async () => {
    const made = await Array.fromAsync(bed.client.list(configMaps, { namespace: idleNamespace }));
    return made.length > count;
  });
  await sleep(2_000);
  using api = new ApiClient(bed.cluster.admin);
  const audit = new AuditLog(bed.cluster.auditLogPath ?? "", api);
  const position = await audit.position();
  const before = contestant.usage();
  await sleep(watchedMs);
  const after = contestant.usage();
  const requests = (await audit.since(position)).filter(
    ({ userAgent, verb }) => userAgent.startsWith("bench-copy") && verb !== "watch",
  );
  const share = ((after.cpuMs - before.cpuMs) / watchedMs) * 100;
  return [
    {
      what: `${count} settled objects, idle for ${seconds(watchedMs)}: requests besides watches`,
      measured: String(requests.length),
      bar: "0",
    },
    { what: `${count} settled objects, idle: CPU`, measured: `${share.toFixed(2)} %`, bar: "< 1 %" },
    { what: `${count} settled objects, idle: RSS`, measured: megabytes(after.residentBytes) },
  ];
}
