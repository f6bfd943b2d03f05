import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { type InstallPlan, planAnnotations } from "@quartermaster/api";
import { joinSharedCluster, makeIdentity, makeNamespace, type TestNamespace } from "@quartermaster/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";

import { planPath, readObject, writeStatus } from "../support/cluster.ts";
import { type, type Said } from "../support/person.ts";
import { creating } from "../support/previews.ts";

const cluster = joinSharedCluster();
const repository = join(import.meta.dirname, "../../../..");
let namespace: TestNamespace;
let folder: string;

beforeAll(async () => {
  namespace = await makeNamespace(cluster.api, "cli-guide");
  const all = [{ apiGroups: ["", "apps"], resources: ["*"], verbs: ["*"] }];
  await makeIdentity(cluster.api, cluster.admin, {
    namespace: namespace.name,
    name: "installer",
    rules: all,
  });
  folder = await mkdtemp(join(tmpdir(), "qm-guide-"));
});

afterAll(async () => {
  await rm(folder, { recursive: true });
  await namespace[Symbol.asyncDispose]();
  cluster[Symbol.dispose]();
});

/** What each command of the guide ends with, in the guide's order, and what it says. */
const expected: readonly { readonly line: string; readonly code: number; readonly says: RegExp }[] = [
  {
    line: "qm pack shop.yaml --name shop-1 --service-account installer",
    code: 0,
    says: /kind: "InstallPlan"/,
  },
  { line: "qm pack shop.yaml --name shop-1 --stage late=Deployment/shop*", code: 0, says: /name: "late"/ },
  {
    line: "qm pack shop.yaml --name shop-1 --service-account installer --secrets secretRef --manual --apply",
    code: 0,
    says: /^created InstallPlan .*\/shop-1$/,
  },
  {
    line: "qm plan diff shop-1",
    code: 3,
    says: /\+ Secret .*\/shop {2}create[^]*3 to change, 0 unchanged$/,
  },
  { line: "qm plan status shop-1", code: 3, says: /not observed yet/ },
  { line: "qm plan explain shop-1", code: 3, says: /no operator has written a status yet/ },
  {
    line: "qm plan approve shop-1",
    code: 0,
    says: /3 create[^]*approved InstallPlan .*\/shop-1, preview d1$/,
  },
  {
    line: "qm plan retry shop-1",
    code: 0,
    says: /^requested another attempt of InstallPlan .*\/shop-1;/,
  },
  {
    line: "qm plan trust shop-1",
    code: 0,
    says: /^InstallPlan .*\/shop-1 may use service account installer with uid /,
  },
  {
    line: "qm pack shop.yaml --name shop-2 --service-account installer --replaces shop-1 --apply",
    code: 0,
    says: /^created InstallPlan .*\/shop-2$/,
  },
  { line: "qm plan rollback shop-2 --dry-run", code: 0, says: /name: "shop-1-again"/ },
  {
    line: "qm plan rollback shop-2",
    code: 0,
    says: /with the content of shop-1; it replaces shop-2 and is AwaitingApproval;/,
  },
  { line: "qm plan validate plan.yaml", code: 0, says: /^documents: 1, all valid$/ },
  {
    line: "qm bundle explain -f shop.yaml",
    code: 0,
    says: /^Deployment shop in namespace .*: gets no bundle/,
  },
  { line: "qm version", code: 0, says: /^qm \d/ },
  { line: "qm help", code: 0, says: /plan rollback/ },
];

test("the commands of the guide do what it says", async () => {
  const guide = await readFile(join(repository, "docs/guides/cli.md"), "utf8");
  const commands = [...guide.matchAll(/^qm .*$/gm)].map(([line]) => line);
  expect(commands).toEqual(expected.map(({ line }) => line));
  const [, yaml = ""] = /```yaml\n([^]*?)```/.exec(guide) ?? [];
  await writeFile(join(folder, "shop.yaml"), yaml);
  for (const { line, code, says } of expected) {
    const said = await typeInFolder(line);
    expect({ line, code: said.code, err: said.code === code ? "" : said.err }).toEqual({
      line,
      code,
      err: "",
    });
    expect(said.out).toMatch(says);
    await actAsOperator(line, said);
  }
  const path = (name: string): string => planPath(namespace.name, name);
  const approved = await readObject<InstallPlan>(cluster, path("shop-1"));
  expect(approved?.spec).toMatchObject({ approved: true, approvedPreview: "d1" });
  expect(approved?.metadata.annotations).toHaveProperty([planAnnotations.retry]);
  expect(approved?.metadata.annotations).toHaveProperty([planAnnotations.trust]);
  const again = await readObject<{ spec: object }>(cluster, path("shop-1-again"));
  expect(again?.spec).toMatchObject({
    approved: false,
    approval: "Manual",
    replaces: { plans: [{ name: "shop-2" }] },
  });
  expect(JSON.stringify(again)).not.toContain("not-very-secret");
}, 120_000);

async function typeInFolder(line: string): Promise<Said> {
  const words = line
    .split(" ")
    .slice(1)
    .map((word) => (word.endsWith(".yaml") ? join(folder, word) : word));
  const isPlain = ["version", "help"].includes(words[0] ?? "") || words[1] === "validate";
  const env = { KUBECONFIG: cluster.kubeconfigPath };
  const onSleep = async (): Promise<void> => {
    const status = { phase: "AwaitingApproval", observedGeneration: 1 };
    await writeStatus(cluster, planPath(namespace.name, "shop-1-again"), status);
  };
  return await type(isPlain ? words : [...words, "-n", namespace.name], { env, onSleep });
}

/** There is no operator here: its part is played between the commands. */
async function actAsOperator(line: string, { out }: Said): Promise<void> {
  if (line === expected[0]?.line) await writeFile(join(folder, "plan.yaml"), out);
  const preview = creating("d1", 3);
  const path = planPath(namespace.name, "shop-1");
  if (line === "qm plan explain shop-1")
    await writeStatus(cluster, path, { phase: "AwaitingApproval", preview });
  if (line === "qm plan approve shop-1") await writeStatus(cluster, path, { phase: "Failed", preview });
  if (line === "qm plan retry shop-1")
    await writeStatus(cluster, path, { phase: "Degraded", preview, serviceAccountUid: "of-before" });
}
