import { startLocalCluster } from "../../src/index.ts";

/** A program of its own that requests real nodes and tells what it got. */
await using cluster = await startLocalCluster({ nodes: 2 });
const { stdout } = await cluster.kubectl(["get", "nodes", "-o", "name"]);
const nodes = stdout.trim().split("\n").join(" ");
process.stdout.write(JSON.stringify({ profile: cluster.profile, notes: cluster.notes, nodes }));
