import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { ApiClient, type ImageLayout } from "@quartermaster/local-cluster";
import { eventually, hasRealNodes, type LocalCluster, startLocalCluster } from "@quartermaster/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";

import { operatorImage, shareDriverImage, writeImage } from "../../image/program-images.ts";
import {
  commandsIn,
  fieldsOf,
  isApplied,
  kubectl,
  repository,
  runHelm,
} from "../support/installed-cluster.ts";

const index = z.object({ manifests: z.tuple([z.object({ digest: z.string() })]) });
const manifest = z.object({ config: z.object({ digest: z.string() }) });

/** It names the digest of what the image holds; how that is compressed makes no difference to it. */
function configOf(layout: string): string {
  const [{ digest }] = index.parse(JSON.parse(readFileSync(join(layout, "index.json"), "utf8"))).manifests;
  const blob = readFileSync(join(layout, "blobs", ...digest.split(":")), "utf8");
  return manifest.parse(JSON.parse(blob)).config.digest;
}

async function leader(cluster: LocalCluster): Promise<string> {
  return await kubectl(cluster, "-n quartermaster get leases -o jsonpath={.items[*].spec.holderIdentity}");
}

async function restoresGreeting(cluster: LocalCluster): Promise<void> {
  await kubectl(cluster, "-n greeting delete deployment greeting");
  await kubectl(cluster, "-n greeting wait --for=create deployment/greeting --timeout=60s");
}

const questions = [
  "get pods --subresource=exec",
  "get nodes --subresource=proxy",
  "get secrets",
  "impersonate serviceaccounts",
  "watch pods",
];

/** Whether the operator may do each of it. */
async function respondsAbout(cluster: LocalCluster): Promise<string> {
  const account = ["--as", "system:serviceaccount:quartermaster:quartermaster-operator"];
  const responses = await Promise.all(
    questions.map(async (each) => await cluster.kubectl(["auth", "can-i", ...each.split(" "), ...account])),
  );
  return responses.map(({ stdout }) => stdout.trim()).join(" ");
}

const [installing = "", withSubscription = ""] = commandsIn("With Helm", "helm");
const [restricting = ""] = commandsIn("With Helm", "kubectl");
const [applying = "", rollingOut = ""] = commandsIn("With one file", "kubectl");
const [optIn = ""] = commandsIn("Let a namespace use plans", "kubectl");
const [widening = ""] = commandsIn("All permissions at once", "helm");
const [withoutWebhook = ""] = commandsIn("Give pods their subscriptions", "helm");
const limited = "no no no no yes";

const alwaysInject = "subscription.openshift.io/always-inject";

/** A namespace with a bundle, and pods that name it. */
const subscriptions = inDirectory("subscribed.yaml");
/** The same for the whole cluster. */
const clusterSubscriptions = inDirectory("cluster-subscribed.yaml");

function inDirectory(file: string): string {
  return join(import.meta.dirname, file);
}

describe.runIf(hasRealNodes())("the operator in a cluster", () => {
  const directory = mkdtempSync(join(tmpdir(), "qm-image-"));
  let cluster: LocalCluster;
  let image: ImageLayout;

  beforeAll(async () => {
    image = await writeImage(operatorImage, { target: join(directory, "one"), compression: "none" });
    const driver = await writeImage(shareDriverImage, {
      target: join(directory, "driver"),
      compression: "none",
    });
    cluster = await startLocalCluster({ nodes: 1, images: [image.directory, driver.directory] });
  });

  afterAll(async () => {
    await cluster?.stop();
    rmSync(directory, { recursive: true, force: true });
  });

  test("[packaging/PK-41] install.yaml applied once, without flags, installs a sample plan; again it changes nothing", async () => {
    await kubectl(cluster, applying.replace("deploy/", `${repository}/deploy/`));
    await kubectl(cluster, rollingOut);
    await kubectl(cluster, "-n quartermaster rollout status deployment/quartermaster-webhook --timeout=120s");
    await installSample(cluster);
    const lines = (await kubectl(cluster, applying.replace("deploy/", `${repository}/deploy/`)))
      .trim()
      .split("\n");
    expect(lines.length).toBeGreaterThan(80);
    // kubectl says so of every PodDisruptionBudget: its selector is replaced as a whole.
    const configured = lines.filter((line) => !line.endsWith(" unchanged"));
    expect(configured.filter((line) => !line.startsWith("poddisruptionbudget.policy/"))).toEqual([]);
    expect(await fieldsOf(cluster, budgets, "metadata.generation")).toBe("1 1");
  });

  test("[packaging/PK-25] deleting install.yaml deletes no definition and no workload", async () => {
    const workload = "-n greeting get deployment,configmap,service -o jsonpath={.items[*].metadata.uid}";
    const before = await kubectl(cluster, workload);
    const { code, stderr } = await cluster.kubectl(
      `delete -f ${repository}/deploy/install.yaml --timeout=120s`.split(" "),
    );
    expect(code).toBe(1);
    expect(stderr.match(/kubectl annotate crd \S+ quartermaster.dev\/allow-deletion=true/g)).toHaveLength(11);
    // What the deleted namespace took along is not found.
    const errors = stderr.match(/^Error(?!.*\(NotFound\)).*/gm) ?? [];
    expect(errors.filter((line) => !line.includes("denied request"))).toEqual([]);
    const definitions = await kubectl(cluster, `get ${ours} -o name`);
    expect(definitions.trim().split("\n")).toHaveLength(11);
    expect(await kubectl(cluster, "-n greeting get installplan greeting-1 -o name")).toContain("greeting-1");
    expect(await kubectl(cluster, workload)).toBe(before);
    expect(await kubectl(cluster, "get mutatingwebhookconfigurations -o name")).not.toContain(
      "quartermaster",
    );
  });

  test("without its definitions and finalizers the cluster is as before", async () => {
    const finalizers = JSON.stringify({ metadata: { finalizers: null } });
    await kubectl(cluster, `-n greeting patch installplan greeting-1 --type=merge --patch=${finalizers}`);
    await kubectl(cluster, `delete ${ours} --timeout=120s`);
    // kubectl does not wait for it where other deletions were denied, and Helm creates it again.
    await kubectl(cluster, "wait --for=delete namespace/quartermaster --timeout=120s");
    // A shell that sleeps does not hear that it should end.
    await kubectl(cluster, "-n greeting delete deployment greeting");
    await kubectl(cluster, "-n greeting delete pods --all --force --grace-period=0");
    await kubectl(cluster, "delete namespace greeting --timeout=120s");
    expect(await kubectl(cluster, `get ${ours} -o name`)).toBe("");
  });

  test("[local-cluster/LC-27] its image is the same whenever and by whomever it is made", () => {
    const other = join(directory, "two");
    execFileSync("sh", ["-c", `umask 077; TZ=Asia/Tokyo make --silent image ARGS="--output ${other}"`], {
      cwd: repository,
    });
    expect(configOf(other)).toBe(configOf(image.directory));
  });

  test("[local-cluster/LC-27] its image imports, runs as non-root on a read-only file system and answers its probes", async () => {
    runHelm(cluster, installing);
    await kubectl(cluster, restricting);
    const pods = async (field: string): Promise<string> =>
      await kubectl(cluster, `-n quartermaster get pods -o jsonpath={.items[*].${field}}`);
    expect(await pods("spec.securityContext.runAsNonRoot")).toBe("true true");
    expect(await pods("spec.securityContext.runAsUser")).toBe(""); // the number is the image's own
    expect(await pods("spec.containers[0].securityContext.readOnlyRootFilesystem")).toBe("true true");
    expect(await pods("status.containerStatuses[0].image")).toBe(
      `${operatorImage.name} ${operatorImage.name}`,
    );
    expect(await pods("status.containerStatuses[0].restartCount")).toBe("0 0");
  });

  test("one of its replicas installs the sample, and the other continues when that one goes", async () => {
    await eventually(async () => (await leader(cluster)) !== "");
    await installSample(cluster);
    const first = await leader(cluster);
    await kubectl(cluster, `-n quartermaster delete pod ${first}`);
    await eventually(async () => ![first, ""].includes(await leader(cluster)), { withinMs: 60_000 });
    await restoresGreeting(cluster);
  });

  test("[packaging/PK-02] Helm 3 upgrades a release of Helm 4: with all permissions in place of the default ones it continues", async () => {
    expect(await respondsAbout(cluster)).toBe(limited);
    runHelm(cluster, widening, 3);
    await eventually(async (see) => see(await respondsAbout(cluster)) === "yes yes yes yes yes");
    await restoresGreeting(cluster);
  });

  test("[subscription-injection/AC-A2] its webhook gives a pod the files of a bundle, beside its token", async () => {
    runHelm(cluster, withSubscription);
    await eventually(async () => await isApplied(cluster, subscriptions));
    // Until the API server has heard of the webhook, pods are admitted as they are.
    await eventually(async () => (await dryRunPod(cluster)).includes("bundle-generations"));
    await kubectl(cluster, podNaming("bundle", "reader"));
    await kubectl(cluster, "-n subscribed wait --for=condition=Ready pod/reader --timeout=120s");
    const inside =
      "/run/secrets/etc-pki-entitlement/entitlement.pem /var/run/secrets/kubernetes.io/serviceaccount/namespace";
    expect(await kubectl(cluster, `-n subscribed exec reader -- cat ${inside}`)).toBe(
      "a certificate\nsubscribed",
    );
    expect(await kubectl(cluster, "-n subscribed exec reader -- ls /run/secrets")).toContain("redhat.repo");
  });

  test("[packaging/PK-38] the release's namespace enforces restricted and accepts every pod; only the share driver's is privileged", async () => {
    const label = "pod-security.kubernetes.io/enforce";
    expect(await fieldsOf(cluster, `namespaces -l ${label}=restricted`, "metadata.name")).toBe(
      "quartermaster",
    );
    for (const name of ["operator", "webhook"]) {
      const deployment = `deployment/quartermaster-${name}`;
      await kubectl(cluster, `-n quartermaster rollout restart ${deployment}`);
      await kubectl(cluster, `-n quartermaster rollout status ${deployment} --timeout=120s`);
    }
    expect(await fieldsOf(cluster, `namespaces -l ${label}=privileged`, "metadata.name")).toBe(
      "quartermaster-share-driver",
    );
  });

  test("[subscription-injection/AC-A19] an edited Secret reaches the running pod by kubelet, without us", async () => {
    const bundle = "-n subscribed get bundle subscription -o jsonpath={.metadata.resourceVersion}";
    const before = await kubectl(cluster, bundle);
    const renewed = JSON.stringify({ stringData: { "entitlement.pem": "renewed" } });
    await kubectl(cluster, `-n subscribed patch secret entitlement --patch=${renewed}`);
    const file = "/run/secrets/etc-pki-entitlement/entitlement.pem";
    await eventually(
      async (see) => see(await kubectl(cluster, `-n subscribed exec reader -- cat ${file}`)) === "renewed",
      { withinMs: 180_000 },
    );
    expect(await kubectl(cluster, bundle)).toBe(before);
  });

  test("[subscription-injection/AC-H3] a pod reads the entitlement and the repository of a ClusterBundle, and its token", async () => {
    const rollout = "rollout status daemonset/quartermaster-share-driver --timeout=120s";
    await kubectl(cluster, `-n quartermaster-share-driver ${rollout}`);
    await kubectl(cluster, `apply --server-side -f ${clusterSubscriptions}`);
    await kubectl(cluster, "wait --for=condition=Ready clusterbundle/cluster --timeout=60s");
    // The webhook hears a little later that the bundle is ready and that the account may use it.
    await eventually(async () => await kubectl(cluster, podNaming("cluster-bundle", "cluster-reader")));
    await kubectl(cluster, "-n subscribed wait --for=condition=Ready pod/cluster-reader --timeout=120s");
    const files = "/run/secrets/etc-pki-entitlement/cluster.pem /run/secrets/redhat.repo";
    expect(await kubectl(cluster, `-n subscribed exec cluster-reader -- cat ${files}`)).toBe(
      "a certificate of the cluster[cluster]",
    );
    const token = "/var/run/secrets/kubernetes.io/serviceaccount/namespace";
    expect(await kubectl(cluster, `-n subscribed exec cluster-reader -- cat ${token}`)).toBe("subscribed");
  });

  test("[subscription-injection/AC-H6] without the ClusterBundle a running pod keeps its files, and a new one is refused", async () => {
    await kubectl(cluster, "delete clusterbundle cluster");
    await eventually(async (see) => {
      const late = podNaming("cluster-bundle", "cluster-late", "--dry-run=server ");
      const { code, stderr } = see(await cluster.kubectl(late.split(" ")));
      return code !== 0 && stderr.includes("not found or not permitted");
    });
    expect(
      await kubectl(
        cluster,
        "-n subscribed exec cluster-reader -- cat /run/secrets/etc-pki-entitlement/cluster.pem",
      ),
    ).toBe("a certificate of the cluster");
  });

  test("[subscription-injection/AC-F24] [subscription-injection/AC-G4] a rolling restart of the webhook under 100 requests a second refuses no pod and lets none pass unchanged", async () => {
    const stop = new AbortController();
    const restart = (async () => {
      await kubectl(cluster, "-n quartermaster rollout restart deployment/quartermaster-webhook");
      await kubectl(
        cluster,
        "-n quartermaster rollout status deployment/quartermaster-webhook --timeout=180s",
      );
      // The old replicas continue answering for a while; no one must be sent to them after that.
      await eventually(async (see) => see(await webhookPods(cluster)).length === 2);
    })().finally(() => {
      stop.abort();
    });
    const ends = await podsAtRate(cluster, 100, stop.signal);
    await restart;
    process.stdout.write(`${String(ends.length)} pods while the webhook restarted\n`);
    expect([...new Set(ends)]).toEqual(["201 injected"]);
    expect(ends.length).toBeGreaterThan(100);
  });

  test("[subscription-injection/AC-G6] from nothing the operator and its webhook start although both configurations are there", async () => {
    await kubectl(cluster, `-n subscribed label bundle subscription ${alwaysInject}=true`);
    const registered =
      "get mutatingwebhookconfigurations quartermaster-subscription-auto -o jsonpath={.webhooks[*].name}";
    await eventually(async () => (await kubectl(cluster, registered)) !== "");
    const deployments = ["quartermaster-operator", "quartermaster-webhook"];
    const scale = async (replicas: number): Promise<void> => {
      for (const name of deployments)
        await kubectl(cluster, `-n quartermaster scale deployment/${name} --replicas=${replicas}`);
    };
    await scale(0);
    await eventually(async (see) => see(await kubectl(cluster, "-n quartermaster get pods -o name")) === "", {
      withinMs: 120_000,
    });
    await expect(dryRunPod(cluster)).rejects.toThrow("failed calling webhook");
    // Pods that name none are not held up, in no namespace.
    await kubectl(cluster, "-n subscribed run other --image=quartermaster.local/busybox:1 --dry-run=server");
    await scale(2);
    for (const name of deployments)
      await kubectl(cluster, `-n quartermaster rollout status deployment/${name} --timeout=120s`);
    await eventually(async () => (await dryRunPod(cluster)).includes("bundle-generations"));
    await kubectl(cluster, `-n subscribed label bundle subscription ${alwaysInject}-`);
  });

  test("[subscription-injection/AC-F24] [packaging/PK-09] with the domain off no webhook configuration is left, pods that name no bundle start and others are refused", async () => {
    runHelm(cluster, withoutWebhook);
    await eventually(
      async (see) =>
        !see(await kubectl(cluster, "get mutatingwebhookconfigurations -o name")).includes("quartermaster"),
      { withinMs: 30_000 },
    );
    await kubectl(cluster, "-n subscribed run plain --image=quartermaster.local/busybox:1 --dry-run=server");
    await eventually(async (see) => {
      const { code, stderr } = see(await cluster.kubectl(podNaming("bundle", "another", dryRun).split(" ")));
      return code !== 0 && stderr.includes("the webhook did not act");
    });
    runHelm(cluster, withSubscription);
    await eventually(async () => (await dryRunPod(cluster)).includes("bundle-generations"), {
      withinMs: 60_000,
    });
  });

  test("[packaging/PK-18] with everything on, definitions, rendered objects and the release's Secret are small enough", async () => {
    runHelm(cluster, `${withSubscription} --reuse-values ${others}`);
    const rendered = Buffer.byteLength(
      runHelm(cluster, "get manifest quartermaster --namespace quartermaster"),
    );
    const definitions = z
      .object({ items: z.array(z.unknown()) })
      .parse(JSON.parse(await kubectl(cluster, `get ${ours} -o json`)));
    const largest = Math.max(...definitions.items.map((each) => JSON.stringify(each).length));
    const secrets = await fieldsOf(cluster, "secrets -n quartermaster -l owner=helm", "data.release");
    const release = Math.max(...secrets.split(" ").map((each) => each.length));
    process.stdout.write(
      `largest CRD ${String(largest)}, rendered ${String(rendered)}, release Secret ${String(release)} bytes\n`,
    );
    expect(largest).toBeLessThanOrEqual(200_000);
    expect(rendered).toBeLessThanOrEqual(1_000_000);
    expect(release).toBeLessThanOrEqual(512 * 1024);
  });

  test("[packaging/PK-20] [packaging/PK-21] helm uninstall, while an operator pod is killed, keeps definitions, objects, workloads and volumes; no webhook configuration comes back", async () => {
    for (const name of ["quartermaster-licenses", "searching"])
      await kubectl(cluster, `create namespace ${name}`);
    const licenses = "--namespace=quartermaster-licenses";
    await eventually(async () => await isApplied(cluster, sample("enterprise-license"), licenses));
    await eventually(
      async () => await isApplied(cluster, sample("opensearch-single"), "--namespace=searching"),
    );
    // The engine's image is not on the node: its pods wait, its StatefulSet, Secrets and volume are there.
    await eventually(
      async (see) =>
        see(await kubectl(cluster, "-n searching get statefulsets,pvc -o name")).includes("claim/"),
      { withinMs: 60_000 },
    );
    const before = new Set(
      (await kept(cluster)).split("\n").filter((name) => !name.includes("sh.helm.release")),
    );
    const [pod = ""] = (
      await fieldsOf(cluster, `pods -n quartermaster -l ${operatorPods}`, "metadata.name")
    ).split(" ");
    const killed = cluster.kubectl([
      "-n",
      "quartermaster",
      "delete",
      "pod",
      pod,
      "--force",
      "--grace-period=0",
    ]);
    runHelm(cluster, "uninstall quartermaster --namespace quartermaster --wait --timeout 60s");
    expect((await killed).code).toBe(0);
    const definitions = await kubectl(cluster, `get ${ours} -o name`);
    expect(definitions.trim().split("\n")).toHaveLength(11);
    const after = new Set((await kept(cluster)).split("\n"));
    expect([...before].filter((name) => !after.has(name))).toEqual([]);
    for (const kind of ["statefulset.apps/trial", "persistentvolumeclaim/", "enterpriselicense.", "secret/"])
      expect([...before].join(" ")).toContain(kind);
    // The API server goes by a policy for a moment after it is deleted.
    await eventually(async () => (await dryRunPod(cluster)).includes("another"));
    await kubectl(
      cluster,
      podNaming("bundle", "after").replace("--annotations", "--labels=a=b --annotations"),
    );
    await kubectl(cluster, "-n subscribed wait --for=condition=Ready pod/after --timeout=60s");
    expect(
      await kubectl(cluster, "-n subscribed exec reader -- ls /run/secrets/etc-pki-entitlement"),
    ).toContain("entitlement.pem");
    // Replicas of the webhook respond until the API server has forgotten them.
    await eventually(
      async (see) => see(await fieldsOf(cluster, "pods -n quartermaster", "metadata.name")) === "",
      { withinMs: 90_000 },
    );
    expect(await kubectl(cluster, "get mutatingwebhookconfigurations -o name")).not.toContain(
      "quartermaster",
    );
  });

  test("[packaging/PK-24] [packaging/PK-02] installed again, by Helm 3 and upgraded by Helm 4, it takes every object up without a write to a managed object or a restart", async () => {
    const managed =
      "get deployments,pods,configmaps -n greeting -o jsonpath={.items[*].metadata.resourceVersion}";
    const before = await kubectl(cluster, managed);
    runHelm(cluster, `${installing} ${others}`, 3);
    await eventually(async () => (await leader(cluster)) !== "");
    await kubectl(cluster, "-n greeting wait --for=condition=Ready installplan/greeting-1 --timeout=60s");
    runHelm(cluster, `${withSubscription} --reuse-values`);
    await eventually(async () => (await dryRunPod(cluster)).includes("bundle-generations"), {
      withinMs: 60_000,
    });
    await kubectl(cluster, "-n greeting wait --for=condition=Ready installplan/greeting-1 --timeout=60s");
    expect(await kubectl(cluster, managed)).toBe(before);
  });
});

/** Our definitions, as the chart labels them. */
const ours = "crd -l app.kubernetes.io/part-of=quartermaster";
const budgets = "poddisruptionbudgets -n quartermaster";
const operatorPods = "app.kubernetes.io/name=quartermaster-operator";
/** The domains that the guide's commands leave off. */
const others = "--set domains.licensing.enabled=true --set domains.search.enabled=true";

function sample(name: string): string {
  return join(repository, `config/samples/${name}.yaml`);
}

/** Installs the sample plan in a namespace that opts in. */
async function installSample(cluster: LocalCluster): Promise<void> {
  await eventually(async () => await isApplied(cluster, sample("greeting")), { withinMs: 60_000 });
  await kubectl(cluster, optIn.replace("<namespace>", "greeting"));
  await kubectl(cluster, "-n greeting wait --for=condition=Ready installplan/greeting-1 --timeout=120s");
}

/** Names of what an uninstall must keep. */
async function kept(cluster: LocalCluster): Promise<string> {
  const kinds =
    "crd,installplans,bundles,enterpriselicenses,opensearchclusters.opensearch.org,deployments,statefulsets,persistentvolumeclaims,configmaps,secrets";
  return await kubectl(cluster, `get ${kinds} -A -l app.kubernetes.io/part-of!=quartermaster -o name`);
}

const dryRun = "--dry-run=server -o json ";

async function webhookPods(cluster: LocalCluster): Promise<readonly string[]> {
  const selector = "-l app.kubernetes.io/name=quartermaster-webhook";
  const names = await kubectl(cluster, `-n quartermaster get pods ${selector} -o name`);
  return names.split("\n").filter(Boolean);
}

/** A pod as the API server would admit it. Throws when it is refused. */
async function dryRunPod(cluster: LocalCluster): Promise<string> {
  return await kubectl(cluster, podNaming("bundle", "another", dryRun));
}

/** Requests pods at that rate until the signal aborts, whether or not earlier ones were answered; gives how each request ended. */
async function podsAtRate(
  cluster: LocalCluster,
  perSecond: number,
  signal: AbortSignal,
): Promise<readonly string[]> {
  using api = new ApiClient(cluster.admin);
  const pod: unknown = JSON.parse(
    await kubectl(cluster, podNaming("bundle", "another", "--dry-run=client -o json ")),
  );
  const path = "/api/v1/namespaces/subscribed/pods?dryRun=All";
  const request = async (): Promise<string> => {
    const { status, body } = await api.send({ method: "POST", path, body: pod, timeoutMs: 60_000 });
    return `${String(status)} ${body.includes("bundle-generations") ? "injected" : body}`;
  };
  const ends: Promise<string>[] = [];
  while (!signal.aborted) {
    ends.push(request());
    await sleep(1_000 / perSecond);
  }
  return await Promise.all(ends);
}

/** The command that makes a pod which names a bundle and then sleeps. */
function podNaming(kind: "bundle" | "cluster-bundle", name: string, flags = ""): string {
  const bundle = kind === "bundle" ? "subscription" : "cluster";
  const annotation = `--annotations=subscription.openshift.io/inject-${kind}=${bundle}`;
  const image = "--image=quartermaster.local/busybox:1 --image-pull-policy=IfNotPresent";
  return `-n subscribed run ${name} ${image} ${annotation} ${flags}--command -- sleep infinity`;
}
