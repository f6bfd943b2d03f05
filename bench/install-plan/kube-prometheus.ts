import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { installPlan, type InstallPlan, resourceManifest } from "@quartermaster/api";
import { pack, type Packed, readYaml } from "@quartermaster/install-plan/offline";

import { medianOf } from "../runtime/rounds.ts";
import { type Row, times } from "../table.ts";
import type { PlanBed } from "./bed.ts";
import { describeLap, type Lap, operatorLap, toolLap } from "./lap.ts";
import { deletePlan, untilApplied, untilReady } from "./plans.ts";
import { total } from "./requests.ts";

const fixtures = process.env["QM_FIXTURES"] ?? join(import.meta.dirname, "../../../shared/fixtures");
const bundle = join(fixtures, "bundles/kube-prometheus.yaml");
const ref = { namespace: "prometheus", name: "monitoring" };

/** A real bundle of 131 objects as one plan, again and again; kubectl in some of the rounds, kapp and Helm once. */
export async function benchKubePrometheus(bed: PlanBed): Promise<readonly Row[]> {
  if (!existsSync(bundle))
    return [{ what: "kube-prometheus: fixtures not present, left out", measured: "–" }];
  const rounds = bed.options.isQuick ? 2 : 10;
  const packed = packBundle();
  await bed.makeNamespace(ref.namespace);
  const ours: Lap[] = [];
  const kubectl: Lap[] = [];
  const others: Row[] = [];
  for (let round = 0; round < rounds; round += 1) {
    ours.push(await ourRound(bed, packed));
    if (round < 3) kubectl.push(await kubectlRound(bed));
  }
  const kapp = await toolLap(bed, "kapp", [
    "deploy",
    "-a",
    "monitoring",
    "-n",
    "default",
    "-f",
    bundle,
    "-y",
    "--wait=false",
  ]);
  others.push({ what: `  kapp, without waiting: ${describeLap(kapp)}`, measured: "" });
  await clear(bed);
  others.push({ what: `  helm: ${describeLap(await helmLap(bed))}`, measured: "" });
  await clear(bed);
  return [...bars(ours, kubectl), ...others];
}

function bars(ours: readonly Lap[], kubectl: readonly Lap[]): readonly Row[] {
  const failures = ours.filter(({ failure }) => failure !== undefined);
  const wall = ({ wallMs }: Lap): number => wallMs;
  const [first, firstKubectl] = [ours[0], kubectl[0]];
  return [
    {
      what: "kube-prometheus as one plan: rounds that ended Ready",
      measured: `${ours.length - failures.length} of ${ours.length}`,
      bar: "10 of 10",
    },
    {
      what: "kube-prometheus applied, against kubectl apply --server-side",
      measured: times(medianOf(ours, wall) / medianOf(kubectl, wall)),
      bar: "≤ 1 ×",
    },
    {
      what: "kube-prometheus: requests of the operator",
      measured: String(Math.max(...ours.map(({ requests }) => total(requests)))),
      bar: "≤ 340",
    },
    ...(first === undefined ? [] : [{ what: `  ours: ${describeLap(first)}`, measured: "" }]),
    ...(firstKubectl === undefined
      ? []
      : [{ what: `  kubectl: ${describeLap(firstKubectl)}`, measured: "" }]),
    ...failures.map(({ failure }) => ({ what: `  a failed round: ${failure}`, measured: "" })),
  ];
}

/** As kubectl, no stage waits for health; that all is Ready in the end is looked at afterwards. Uploading is not counted. */
function packBundle(): Packed {
  const { documents } = readYaml(readFileSync(bundle, "utf8"), { file: bundle });
  const named = documents.map(({ value, index }) => ({ value, source: `document ${index + 1}` }));
  const packed = pack(named, { ...ref, serviceAccountName: "installer" });
  const stages = packed.plan.spec.stages.map((stage) => ({
    ...stage,
    wait: "Applied",
    concurrency: 16,
    resources: stage.resources.map((resource) =>
      // No pod of this control plane answers, so that the API which one of them would serve stays unavailable.
      ("manifest" in resource ? resource.manifest : resource.manifestRef.object)["kind"] === "APIService"
        ? { ...resource, readiness: { mode: "Ignore" } }
        : resource,
    ),
  }));
  return { ...packed, plan: { ...packed.plan, spec: { ...packed.plan.spec, stages } } };
}

async function ourRound(bed: PlanBed, { plan, manifests }: Packed): Promise<Lap> {
  const { client } = bed;
  for (const manifest of manifests) await client.create(resourceManifest.kind, manifest);
  const lap = await operatorLap(bed, async () => {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the server fills in the defaults
    await client.create(installPlan.kind, plan as unknown as InstallPlan);
    await untilApplied(bed.plans, ref);
  });
  const failure = await endOf(untilReady(bed.plans, ref, 60_000));
  await deletePlan(bed, ref);
  await bed.cluster.kubectl(["delete", "resourcemanifests", "--all", "-n", ref.namespace]);
  return failure === undefined ? lap : { ...lap, failure };
}

async function endOf(ready: Promise<unknown>): Promise<string | undefined> {
  try {
    await ready;
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message.slice(0, 500) : String(error);
  }
}

/** kubectl has to be reported the order: definitions and namespaces, a wait, the rest. */
async function kubectlRound(bed: PlanBed): Promise<Lap> {
  const files = splitBundle(bed);
  const laps = [
    await toolLap(bed, "kubectl", ["apply", "--server-side", "-f", files.first]),
    await toolLap(bed, "kubectl", ["wait", "--for=condition=Established", "crd", "--all"]),
    await toolLap(bed, "kubectl", ["apply", "--server-side", "-f", files.rest]),
  ];
  await clear(bed);
  return laps.reduce(addLaps);
}

async function clear({ cluster }: PlanBed): Promise<void> {
  await cluster.kubectl(["delete", "-f", bundle, "--ignore-not-found"]);
}

/** The definitions where Helm wants them; the rest as files, so that their own braces are not taken for a template's. */
async function helmLap(bed: PlanBed): Promise<Lap> {
  const chart = join(bed.directory, "kube-prometheus");
  const { first, rest } = splitBundle(bed);
  for (const name of ["crds", "templates", "files"]) mkdirSync(join(chart, name), { recursive: true });
  writeFileSync(join(chart, "Chart.yaml"), "apiVersion: v2\nname: kube-prometheus\nversion: 1.0.0\n");
  copyFileSync(first, join(chart, "crds/first.yaml"));
  copyFileSync(rest, join(chart, "files/rest.yaml"));
  writeFileSync(join(chart, "templates/all.yaml"), '{{ .Files.Get "files/rest.yaml" }}\n');
  return await toolLap(bed, "helm", ["install", "monitoring", chart, "-n", "default"]);
}

function splitBundle({ directory }: PlanBed): { readonly first: string; readonly rest: string } {
  const { documents } = readYaml(readFileSync(bundle, "utf8"), { file: bundle });
  const texts = documents.map(({ value }) => JSON.stringify(value));
  const isFirst = (text: string): boolean =>
    /"kind":"(?:CustomResourceDefinition|Namespace)","metadata"/.test(text);
  const write = (name: string, chosen: readonly string[]): string => {
    writeFileSync(join(directory, name), chosen.join("\n---\n"));
    return join(directory, name);
  };
  return {
    first: write("first.yaml", texts.filter(isFirst)),
    rest: write(
      "rest.yaml",
      texts.filter((text) => !isFirst(text)),
    ),
  };
}

function addLaps(one: Lap, other: Lap): Lap {
  const requests: Record<string, number> = { ...one.requests };
  for (const [verb, count] of Object.entries(other.requests)) requests[verb] = (requests[verb] ?? 0) + count;
  return {
    wallMs: one.wallMs + other.wallMs,
    cpuMs: (one.cpuMs ?? 0) + (other.cpuMs ?? 0),
    peakBytes: Math.max(one.peakBytes ?? 0, other.peakBytes ?? 0),
    requests,
    failure: one.failure ?? other.failure,
  };
}
