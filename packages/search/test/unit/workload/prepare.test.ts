import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

import { describe, expect, test } from "vitest";

import type { SearchCluster } from "../../../src/model/search-cluster.ts";
import { prepareCommand } from "../../../src/workload/prepare.ts";
import { anElasticsearch, aSearchCluster } from "../../a-search-cluster.ts";

/** Writes its arguments, one per line, to the file `calls` beside the home that it was started from. */
const recordingTool = `#!/bin/bash
printf '%s\\n' "$(basename "$0")" "$@" >> "$CALLS"
`;

/** A pod's file system as far as prepare sees it, below a temporary directory. */
class Machine implements Disposable {
  readonly root = mkdtempSync(join(tmpdir(), "qm-prepare-"));

  constructor(cluster: SearchCluster) {
    const engine = cluster.distribution;
    this.write(`home/config/${engine}.yml`, "from: image\n");
    this.write("home/config/jvm.options", "-Xmx1g\n");
    this.write("home/lib/engine.jar", "");
    this.write("home/plugins/there/plugin-descriptor.properties", "");
    for (const tool of ["keystore", "plugin"]) this.write(`home/bin/${engine}-${tool}`, recordingTool);
    for (const tool of ["keystore", "plugin"])
      chmodSync(join(this.root, `home/bin/${engine}-${tool}`), 0o755);
    this.write(`wanted/${engine}.yml`, 'cluster.name: "logs"\n');
    mkdirSync(join(this.root, "prepared"));
  }

  write(path: string, text: string): void {
    mkdirSync(dirname(join(this.root, path)), { recursive: true });
    writeFileSync(join(this.root, path), text);
  }

  read(path: string): string {
    return existsSync(join(this.root, path)) ? readFileSync(join(this.root, path), "utf8") : "";
  }

  /** The command that a pod would run, with this directory for the root of the file system. */
  run(cluster: SearchCluster, allowsMmap = true): void {
    const [shell = "", flag = "", script = "", ...args] = prepareCommand(
      { ...cluster, home: "/home" },
      { allowsMmap },
    );
    const here = (terms: string): string =>
      /^\/(?:prepared|wanted|bootstrap|keystore|attributes|home|dev)/.test(terms)
        ? `${this.root}${terms}`
        : terms;
    mkdirSync(join(this.root, "dev"), { recursive: true });
    execFileSync(shell, [flag, script, ...args.map(here)], {
      env: { ...process.env, CALLS: join(this.root, "calls") },
    });
  }

  [Symbol.dispose](): void {
    rmSync(this.root, { recursive: true, force: true });
  }
}

describe("prepare", () => {
  test("composes the image's files, the pool's settings and the first managers; a second run gives the same", () => {
    const cluster = aSearchCluster();
    using machine = new Machine(cluster);
    machine.write(
      "bootstrap/initial-managers.yml",
      'cluster.initial_cluster_manager_nodes: ["logs-nodes-0"]\n',
    );
    for (let run = 0; run < 2; run += 1) {
      machine.run(cluster);
      expect(machine.read("prepared/config/opensearch.yml")).toBe(
        'cluster.name: "logs"\ncluster.initial_cluster_manager_nodes: ["logs-nodes-0"]\n',
      );
      expect(machine.read("prepared/config/jvm.options")).toBe("-Xmx1g\n");
    }
    expect(machine.read("calls")).toBe("");
    expect(existsSync(join(machine.root, "prepared/plugins"))).toBe(false);
  });

  test("a list that was emptied is no setting", () => {
    const cluster = aSearchCluster();
    using machine = new Machine(cluster);
    machine.write("bootstrap/initial-managers.yml", "");
    machine.run(cluster);
    expect(machine.read("prepared/config/opensearch.yml")).toBe('cluster.name: "logs"\n');
  });

  test("switches mmap off where the machine allows too little, and says so", () => {
    const cluster = aSearchCluster();
    using machine = new Machine(cluster);
    machine.run(cluster, false);
    const isLow = Number(readFileSync("/proc/sys/vm/max_map_count", "utf8")) < 262_144;
    expect(machine.read("prepared/config/opensearch.yml").includes("node.store.allow_mmap: false\n")).toBe(
      isLow,
    );
    expect(machine.read("dev/termination-log").startsWith("MmapDisabled: ")).toBe(isLow);
  });

  test("attributes come from the machine, and only what a label can hold of them", () => {
    const nodeLabel = "topology.kubernetes.io/zone";
    const cluster = aSearchCluster({ nodeAttributes: [{ name: "zone", nodeLabel }] });
    using machine = new Machine(cluster);
    machine.write("attributes/zone", 'zone-1"\nnode.name: evil');
    machine.run(cluster);
    expect(machine.read("prepared/config/opensearch.yml")).toBe(
      'cluster.name: "logs"\nnode.attr.zone: "zone-1node.nameevil"\n',
    );
  });

  test("[security/70] gives words of authors to the tools as they are, and runs none of them", () => {
    const cluster = aSearchCluster({
      keystore: [
        { secretName: "a", keys: { "my key": "$(touch evil)", plain: "" } },
        { secretName: "b", keys: {} },
      ],
      plugins: ["there", "; touch evil", "--purge"],
    });
    using machine = new Machine(cluster);
    machine.write("keystore/0/my key", "x");
    machine.write("keystore/0/plain", "x");
    machine.write("keystore/1/-option", "x");
    machine.run(cluster);
    const root = machine.root;
    expect(machine.read("calls").split("\n")).toEqual([
      "opensearch-keystore",
      "create",
      "opensearch-keystore",
      "add-file",
      "--force",
      "--",
      "$(touch evil)",
      `${root}/keystore/0/my key`,
      "plain",
      `${root}/keystore/0/plain`,
      "-option",
      `${root}/keystore/1/-option`,
      "opensearch-plugin",
      "install",
      "--batch",
      "--",
      "; touch evil",
      "opensearch-plugin",
      "install",
      "--batch",
      "--",
      "--purge",
      "",
    ]);
    expect(existsSync("evil")).toBe(false);
    expect(readlinkSync(join(root, "prepared/lib"))).toBe(`${root}/home/lib`);
    expect(existsSync(join(root, "prepared/plugins/there/plugin-descriptor.properties"))).toBe(true);
  });

  test("links Elasticsearch's users to the directory that kubelet refreshes", () => {
    const cluster = anElasticsearch("7.17.28");
    using machine = new Machine(cluster);
    machine.run(cluster);
    expect(readlinkSync(join(machine.root, "prepared/config/users"))).toBe("file-realm/users");
    expect(readlinkSync(join(machine.root, "prepared/config/users_roles"))).toBe("file-realm/users_roles");
  });
});
