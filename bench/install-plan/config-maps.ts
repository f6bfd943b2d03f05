import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { installPlan } from "@quartermaster/api";
import type { KubeObject } from "@quartermaster/runtime";

import { configMaps } from "../contestants/kinds.ts";
import { inRounds, medianRatio } from "../runtime/rounds.ts";
import { median, type Row, times } from "../table.ts";
import type { PlanBed } from "./bed.ts";
import { describeLap, type Lap, operatorLap, toolLap } from "./lap.ts";
import { deletePlan, planOf, someConfigMaps, untilReady } from "./plans.ts";
import { total, totalAboutObjects } from "./requests.ts";

/** Installed, reconciled again with nothing changed, deleted. */
interface Course {
  readonly install: Lap;
  readonly again: Lap;
  readonly remove: Lap;
}

/** What is installed, and where. */
interface ObjectSet {
  readonly namespace: string;
  readonly objects: readonly KubeObject[];
}

/** Small objects, many of them: first install, again, delete; ours against kubectl, Helm and kapp. */
export async function benchConfigMaps(bed: PlanBed): Promise<readonly Row[]> {
  const count = bed.options.isQuick ? 200 : 1_000;
  let serial = 0;
  const inOwnNamespace =
    (run: (bed: PlanBed, set: ObjectSet) => Promise<Course>) => async (): Promise<Course> => {
      serial += 1;
      const namespace = `maps-${serial}`;
      await bed.makeNamespace(namespace);
      return await run(bed, { namespace, objects: someConfigMaps(namespace, count) });
    };
  const contestants = {
    kubectl: inOwnNamespace(kubectlCourse),
    "ours, 16 in flight": inOwnNamespace(async (...given) => await ourCourse(...given, 16)),
    helm: inOwnNamespace(helmCourse),
    "ours, 1 in flight": inOwnNamespace(async (...given) => await ourCourse(...given, 1)),
    kapp: inOwnNamespace(kappCourse),
  };
  const courses = await inRounds(bed.options.isQuick ? 1 : 3, contestants);
  return [...bars(courses, count), ...details(courses)];
}

type Courses = Readonly<Record<string, readonly Course[]>>;

function bars(courses: Courses, count: number): readonly Row[] {
  const ours = courses["ours, 16 in flight"] ?? [];
  const slow = courses["ours, 1 in flight"] ?? [];
  const perObject = Math.max(...[...ours, ...slow].map(({ install }) => total(install.requests) / count));
  const again = Math.max(...[...ours, ...slow].map((course) => totalAboutObjects(course.again.requests)));
  const wall =
    (part: keyof Course) =>
    (course: Course): number =>
      course[part].wallMs;
  return [
    {
      what: `${count} ConfigMaps, first install, 16 in flight, against kubectl apply --server-side`,
      measured: times(medianRatio(ours, courses["kubectl"], wall("install"))),
      bar: "≤ 1 ×",
    },
    {
      what: `${count} ConfigMaps, first install, 1 in flight, against Helm`,
      measured: times(medianRatio(slow, courses["helm"], wall("install"))),
      bar: "≤ 1 ×",
    },
    { what: "requests per object, first install", measured: perObject.toFixed(2), bar: "≤ 2.05" },
    { what: "requests about objects when nothing changed", measured: String(again), bar: "0" },
    {
      what: `delete of ${count}, against a raw loop of deletes, 16 in flight`,
      measured: times(medianRatio(ours, courses["kubectl"], wall("remove"))),
      bar: "≤ 2 ×",
    },
  ];
}

function details(courses: Courses): readonly Row[] {
  return (["install", "again", "remove"] as const).flatMap((part) => [
    { what: `${part}:`, measured: "" },
    ...Object.entries(courses).map(([name, laps]) => ({
      what: `  ${part === "remove" && name === "kubectl" ? "raw loop" : name}: ${describeLap(middle(laps.map((course) => course[part])))}`,
      measured: "",
    })),
  ]);
}

/** The lap whose time is the median. */
function middle(laps: readonly Lap[]): Lap {
  const wallMs = median(laps.map((lap) => lap.wallMs));
  const lap = laps.find((candidate) => candidate.wallMs === wallMs);
  if (lap === undefined) throw new Error("there is no lap");
  return lap;
}

async function ourCourse(
  bed: PlanBed,
  { namespace, objects }: ObjectSet,
  concurrency: number,
): Promise<Course> {
  const ref = { namespace, name: "maps" };
  const install = await operatorLap(bed, async () => {
    await bed.client.create(installPlan.kind, planOf(ref, objects, concurrency));
    await untilReady(bed.plans, ref);
  });
  const again = await operatorLap(bed, async () => {
    // A new generation makes the operator look at everything again.
    const patch = { kind: "merge", body: { spec: { historyLimit: 6 } } } as const;
    await bed.client.patch(installPlan.kind, ref, { patch });
    await untilReady(bed.plans, ref);
  });
  const remove = await operatorLap(bed, async () => await deletePlan(bed, ref));
  return { install, again, remove };
}

async function kubectlCourse(bed: PlanBed, { namespace, objects }: ObjectSet): Promise<Course> {
  const apply = ["apply", "--server-side", "-f", writeDocuments(bed, `${namespace}.yaml`, objects)];
  const install = await toolLap(bed, "kubectl", apply);
  const again = await toolLap(bed, "kubectl", apply);
  return { install, again, remove: await rawDeletes(bed, objects) };
}

/** kubectl's own delete waits for each object and takes minutes; a loop over the API is the bar. */
async function rawDeletes(bed: PlanBed, objects: readonly KubeObject[]): Promise<Lap> {
  const open = objects.values();
  const worker = async (): Promise<void> => {
    for (const { metadata } of open) await bed.client.delete(configMaps, metadata);
  };
  const startedMs = performance.now();
  await Promise.all(Array.from({ length: 16 }, worker));
  const wallMs = performance.now() - startedMs;
  return { wallMs, requests: { delete: objects.length } };
}

async function helmCourse(bed: PlanBed, { namespace, objects }: ObjectSet): Promise<Course> {
  const chart = join(bed.directory, namespace);
  mkdirSync(join(chart, "templates"), { recursive: true });
  writeFileSync(join(chart, "Chart.yaml"), "apiVersion: v2\nname: maps\nversion: 1.0.0\n");
  writeDocuments(bed, join(namespace, "templates/all.yaml"), objects);
  const release = ["maps", chart, "-n", namespace];
  return {
    install: await toolLap(bed, "helm", ["install", ...release]),
    again: await toolLap(bed, "helm", ["upgrade", ...release]),
    remove: await toolLap(bed, "helm", ["uninstall", "maps", "-n", namespace]),
  };
}

async function kappCourse(bed: PlanBed, { namespace, objects }: ObjectSet): Promise<Course> {
  const app = ["-a", "maps", "-n", namespace, "-y"];
  const deploy = ["deploy", ...app, "-f", writeDocuments(bed, `${namespace}.yaml`, objects)];
  return {
    install: await toolLap(bed, "kapp", deploy),
    again: await toolLap(bed, "kapp", deploy),
    remove: await toolLap(bed, "kapp", ["delete", ...app]),
  };
}

function writeDocuments({ directory }: PlanBed, name: string, objects: readonly KubeObject[]): string {
  const path = join(directory, name);
  writeFileSync(path, objects.map((object) => JSON.stringify(object)).join("\n---\n"));
  return path;
}
