import { startLocalCluster } from "../../src/index.ts";
import { apply, idlePod, untilPodReady } from "./workloads.ts";

/** A program of its own that starts a cluster with a real node and a pod, says so, and then only waits to be ended. */
const [parentDirectory = "", name = ""] = process.argv.slice(2);
const cluster = await startLocalCluster({ nodes: 1, parentDirectory, name });
await apply(cluster, idlePod("one"));
await untilPodReady(cluster, "one");
process.stdout.write("ready\n");
setInterval(() => undefined, 60_000);
