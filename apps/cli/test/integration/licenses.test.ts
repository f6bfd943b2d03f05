import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { joinSharedCluster, makeNamespace } from "@quartermaster/testkit";
import { afterAll, describe, expect, test } from "vitest";
import { parseAllDocuments } from "yaml";

import { type } from "../support/user.ts";

const cluster = joinSharedCluster();
const env = { KUBECONFIG: cluster.kubeconfigPath };
const dayMs = 86_400_000;
const nowMs = Date.now();

afterAll(() => cluster[Symbol.dispose]());

/** A well-formed signature that no vendor made. */
const signature = ((): string => {
  const int32 = (value: number): Buffer => {
    const bytes = Buffer.alloc(4);
    bytes.writeInt32BE(value);
    return bytes;
  };
  const block = (size: number): Buffer => Buffer.concat([int32(size), Buffer.alloc(size, 7)]);
  return Buffer.concat([int32(4), block(13), block(32), block(256)]).toString("base64");
})();

function vendorFile(uid: string, daysLeft: number): object {
  const common = {
    issue_date_in_millis: nowMs - 100 * dayMs,
    expiry_date_in_millis: nowMs + daysLeft * dayMs,
    issued_to: "Example & <Sons>",
    issuer: "API",
    signature,
  };
  const nested = { ...common, uid, type: "platinum", max_nodes: 10, status: "active" };
  return {
    license: {
      ...common,
      uid: `${uid}-outer`,
      type: "enterprise",
      max_instances: 10,
      cluster_licenses: [{ license: nested }],
    },
  };
}

interface Desk extends AsyncDisposable {
  readonly pool: string;
  readonly team: string;
  file(content: object): Promise<string>;
  qm(...args: readonly string[]): ReturnType<typeof type>;
}

async function desk(): Promise<Desk> {
  const stack = new AsyncDisposableStack();
  const { name: pool } = stack.use(await makeNamespace(cluster.api, "cli-licenses"));
  const { name: team } = stack.use(await makeNamespace(cluster.api, "cli-team"));
  const directory = await mkdtemp(join(tmpdir(), "qm-license-"));
  stack.defer(async () => {
    await rm(directory, { recursive: true, force: true });
  });
  let files = 0;
  return {
    pool,
    team,
    file: async (content) => {
      files += 1;
      const location = join(directory, `${String(files)}.json`);
      await writeFile(location, JSON.stringify(content));
      return location;
    },
    qm: async (...args) => await type(["license", ...args, "--license-namespace", pool, "-n", team], { env }),
    [Symbol.asyncDispose]: async () => {
      await stack[Symbol.asyncDispose]();
    },
  };
}

async function importInto({ pool }: Desk, file: string, name: string): Promise<void> {
  const { code, out } = await type(["license", "import", file, "--name", name, "-n", pool]);
  expect(code).toBe(0);
  for (const document of parseAllDocuments(out)) {
    const object = document.toJS() as { readonly kind: string; readonly metadata: { readonly name: string } };
    const location =
      object.kind === "Secret"
        ? `/api/v1/namespaces/${pool}/secrets`
        : `/apis/elasticsearch.k8s.elastic.co/v1alpha1/namespaces/${pool}/enterpriselicenses`;
    await cluster.api.apply(`${location}/${object.metadata.name}`, object);
  }
}

async function createCluster({ team }: Desk, name: string): Promise<void> {
  await cluster.api.apply(
    `/apis/elasticsearch.k8s.elastic.co/v1alpha1/namespaces/${team}/elasticsearchclusters/${name}`,
    {
      apiVersion: "elasticsearch.k8s.elastic.co/v1alpha1",
      kind: "ElasticsearchCluster",
      metadata: { name, namespace: team },
      spec: {
        general: { serviceName: name, version: "8.19.0" },
        nodePools: [{ component: "nodes", replicas: 3, diskSize: "1Gi", roles: ["cluster_manager", "data"] }],
      },
    },
  );
  await writeStatus("elasticsearchclusters", { namespace: team, name }, { capacity: { presentNodes: 3 } });
}

/** Writes what a controller would report. */
async function writeStatus(
  plural: string,
  { namespace, name }: { readonly namespace: string; readonly name: string },
  status: object,
): Promise<void> {
  await cluster.api.send({
    method: "PATCH",
    path: `/apis/elasticsearch.k8s.elastic.co/v1alpha1/namespaces/${namespace}/${plural}/${name}/status`,
    body: { status },
    contentType: "application/merge-patch+json",
  } as never);
}

describe("qm license", () => {
  test("[licensing/R1] import and export give the same JSON, on a real API server", async () => {
    await using location = await desk();
    const content = vendorFile("p1", 300);
    await importInto(location, await location.file(content), "pool");
    const { code, out } = await type(["license", "export", "pool", "-n", location.pool], { env });
    expect(code).toBe(0);
    expect(JSON.parse(out)).toEqual(content);
  });

  test("[licensing/N5] a license for one cluster is not imported as an enterprise license, with a hint", async () => {
    await using location = await desk();
    const { license } = vendorFile("p1", 300) as { license: { cluster_licenses: [object] } };
    const file = await location.file(license.cluster_licenses[0]);
    const refused = await type(["license", "import", file]);
    expect(refused).toMatchObject({ code: 1 });
    expect(refused.err).toContain("WrongLicenseKind");
    expect(refused.err).toContain("--cluster");
    expect(await type(["license", "import", file, "--cluster", "logs"])).toMatchObject({ code: 0 });
  });

  test("[first-use/12][licensing/Q2][licensing/Q3][licensing/Q4] previews show renewals, deletions and dates; status and explain show the pool", async () => {
    await using location = await desk();
    await importInto(location, await location.file(vendorFile("p1", 100)), "pool");
    await createCluster(location, "logs");
    const explained = await location.qm("explain", "logs");
    expect(explained.out).toMatch(/^decision {2}Selected: p1$/m);
    expect(explained.out).toMatch(
      /^note +No license controller has judged EnterpriseLicense pool, .*--domains has licensing/m,
    );
    expect(explained.out).toMatch(/^Selected +platinum .* p1 +EnterpriseLicense/m);
    expect(explained).toMatchObject({ code: 3 });
    await writeStatus(
      "enterpriselicenses",
      { namespace: location.pool, name: "pool" },
      { observedGeneration: 1 },
    );
    const judged = await location.qm("explain", "logs");
    expect(judged).toMatchObject({ code: 0 });
    expect(judged.out).not.toContain("note ");
    const renewal = await location.qm("preview", "add", await location.file(vendorFile("p2", 400)));
    expect(renewal.out).toMatch(new RegExp(`^${location.team}/logs +p1 +-> +p2 +Selected$`, "m"));
    const deletion = await location.qm("preview", "delete", "pool");
    expect(deletion.out).toMatch(
      new RegExp(`^${location.team}/logs +p1 +-> +nothing +NoLicenseAvailable$`, "m"),
    );
    const later = await location.qm("preview", "at", new Date(nowMs + 101 * dayMs).toISOString());
    expect(later.out).toMatch(
      new RegExp(`^${location.team}/logs +p1 +-> +nothing +NoLicenseAvailable$`, "m"),
    );
    const status = await location.qm("status");
    expect(status.out).toMatch(/^pool +0\/10 /m);
    expect(status.out).toMatch(/^pool\/p1 +platinum +\d+ d +#+\.+$/m);
    for (const { out } of [explained, renewal, deletion, later, status]) expect(out).not.toContain(signature);
  });
});
