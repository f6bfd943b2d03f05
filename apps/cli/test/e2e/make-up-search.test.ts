import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { eventually, hasRealNodes } from "@quartermaster/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { commandsOf, follow, type Step, typeLine } from "../support/guide.ts";

const name = `up-search-${process.pid}`;
const minute = 60_000;
/** `make campaign` has the cluster monitored as well. */
const isCampaign = process.env["QM_CAMPAIGN"] === "1";
const requested = isCampaign ? "search,monitoring" : "search";

const secret = "kubectl -n search get secret";
const restarts =
  "kubectl -n search get pods -o jsonpath='{.items[*].status.containerStatuses[*].restartCount}'";

const pages = [
  "search-create.md",
  "search-secure.md",
  "search-operate.md",
  "search-monitor.md",
  "search-scale.md",
];

/** The guides' commands in their order. */
const guide: readonly (Step & { readonly cost?: "disrupts" | "waits" })[] = [
  { line: "kubectl apply --server-side -f config/samples/opensearch.yaml" },
  { line: "kubectl -n search wait --for=condition=Ready os/logs --timeout=600s" },
  { line: "npx qm search status logs -n search", says: /Ready {2}health green/ },
  { line: "npx qm search explain logs -n search", says: /is as declared/ },
  {
    line: `${secret} logs-http-cert -o go-template='{{index .data "ca.crt" | base64decode}}'`,
    says: /BEGIN CERTIFICATE/,
  },
  {
    line: `${secret} logs-admin-password -o go-template='{{.data.password | base64decode}}'`,
    says: /^[\w-]{32}$/,
  },
  {
    line: `kubectl -n search patch secret logs-admin-password --type=merge -p '{"stringData":{"password":"a-Long-and-Winding-0road"}}'`,
  },
  { line: "npx qm search plan -f config/samples/opensearch.yaml", says: /no node is added/ },
  {
    line: "kubectl -n search annotate os logs search.quartermaster.dev/restart=1 --overwrite",
    cost: "disrupts",
  },
  { line: "kubectl -n search get os logs -o jsonpath={.status.operation}" },
  { line: "kubectl -n search delete os logs", cost: "disrupts" },
  { line: "kubectl -n search get persistentvolumeclaims", says: /data-logs-nodes-2 +Bound/ },
  {
    line: `kubectl -n search patch os logs --type=json -p '[{"op":"replace","path":"/spec/nodePools/0/replicas","value":4}]'`,
    cost: "disrupts",
  },
  {
    line: "kubectl -n search wait --for=jsonpath={.status.availableNodes}=4 os/logs --timeout=300s",
    cost: "waits",
  },
  {
    line: `kubectl -n search patch os logs --type=json -p '[{"op":"replace","path":"/spec/nodePools/0/replicas","value":3}]'`,
    cost: "disrupts",
  },
  {
    line: "npx qm search plan -f config/samples/opensearch-autoscaling.yaml",
    says: /auto-scaling decides how many nodes pool data has, 2 to 6/,
  },
];

describe.runIf(hasRealNodes())("make up WITH=search", () => {
  let output = "";
  let env: Readonly<Record<string, string>> = {};

  beforeAll(async () => {
    const up = await typeLine(`make up WITH=${requested} ARGS="--name ${name}"`, {});
    output = up.output;
    if (up.code !== 0) throw new Error(output);
    const bin = /export PATH=([^:]+):/.exec(output)?.[1] ?? "";
    env = {
      KUBECONFIG: /export KUBECONFIG=(\S+)/.exec(output)?.[1] ?? "",
      PATH: `${bin}:${process.env["PATH"] ?? ""}`,
      KUBECACHEDIR: `${bin}/../cache`,
    };
  }, 12 * minute);

  afterAll(async () => {
    await typeLine(`make down ARGS="--name ${name}"`, {});
  });

  test("[search/SC-105] the sample is admitted where restricted is enforced, and forms with a read-only root", async () => {
    expect(output).toMatch(/search\/logs {2}Ready {2}health green {2}3 of 3 nodes {2}2\.19\.4/);
    const pods = "kubectl -n search get pods -o jsonpath";
    await follow(
      [
        {
          line: "kubectl get namespace search -o jsonpath='{.metadata.labels.pod-security\\.kubernetes\\.io/enforce}'",
          says: /^restricted$/,
        },
        {
          line: `${pods}='{.items[*].spec.containers[*].securityContext.readOnlyRootFilesystem}'`,
          says: /^true true true$/,
        },
        {
          line: `${pods}='{.items[*].spec.initContainers[*].securityContext.readOnlyRootFilesystem}'`,
          says: /^true true true$/,
        },
        { line: `${pods}='{.items[*].status.containerStatuses[*].ready}'`, says: /^true true true$/ },
      ],
      env,
    );
  });

  test("the commands that it prints index a document and find it", async () => {
    const [index = "", search = ""] = output.split("\n").filter((line) => line.includes("| curl "));
    await follow(
      [
        { line: index.trim(), says: /"result":"created"/ },
        { line: search.trim(), says: /"title":"Emma"/ },
        { line: "npx qm search status logs -n search", says: /logs-nodes-2 +2\.19\.4 +yes/ },
        {
          line: "npx qm search plan -f config/samples/opensearch.yaml",
          says: /no node is added, removed or restarted/,
        },
      ],
      env,
    );
    expect(`${index}${search}`).not.toMatch(/user = "admin:/);
  });

  test("[first-use/17] the commands that it prints hold when the Service is created again under another address", async () => {
    const address = "kubectl -n search get service logs -o jsonpath={.spec.clusterIP}";
    const before = (await typeLine(address, env)).output;
    await follow([{ line: "kubectl -n search delete service logs" }], env);
    await eventually(async (see) => {
      const { code, output: now } = await typeLine(address, env);
      return see(code) === 0 && see(now) !== "" && now !== before;
    });
    const search = output.split("\n").findLast((line) => line.includes("| curl ")) ?? "";
    await eventually(async (see) =>
      see((await typeLine(search.trim(), env)).output).includes('"title":"Emma"'),
    );
  });

  test("the commands of the guides do what they say; those that would take minutes run as a dry run of the server", async () => {
    expect(pages.flatMap((page) => commandsOf(page))).toEqual(guide.map(({ line }) => line));
    const steps = guide.flatMap(({ cost = "none", ...step }) => {
      if (cost === "waits") return [];
      return [cost === "disrupts" ? { ...step, line: `${step.line} --dry-run=server` } : step];
    });
    await follow(steps, env);
    // No node restarts for a new password.
    await follow([{ line: restarts, says: /^0 0 0$/ }], env);
  });

  test.runIf(isCampaign)("monitored: the command that it prints draws the overview", async () => {
    const line = output.split("\n").find((each) => each.includes("qm search dashboards")) ?? "";
    const directory = mkdtempSync(join(tmpdir(), "make-up-dashboard-"));
    const page = join(directory, "overview.html");
    await eventually(
      async (see) =>
        see((await typeLine(line.replace("overview.html", page), env)).output).includes(
          "8 of 9 panels have data",
        ),
      { withinMs: minute, everyMs: 5000 },
    );
    expect(readFileSync(page, "utf8")).toContain("<h1>search/logs: overview</h1>");
    rmSync(directory, { recursive: true });
  });

  test("a second time it finds the cluster as it is", async () => {
    const again = await typeLine(`make up WITH=search ARGS="--name ${name}"`, {});
    expect(again).toMatchObject({ code: 0 });
    expect(again.output).toContain("is running already");
    expect(again.output).toContain("Index a document");
  });
});
