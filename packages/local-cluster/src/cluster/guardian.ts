import { realSystem } from "../system/system.ts";
import { destroyCluster } from "./destroy-cluster.ts";

/**
 * Entry point of a cluster's guardian: a small process of its own session that holds a pipe to the launcher. The pipe ends
 * when the launcher does, however it ends (return, SIGINT, SIGKILL), and then the guardian destroys the cluster. The word
 * "release" before the end means that the cluster is meant to live on, or is already deleted.
 */
const [directory] = process.argv.slice(2);
if (directory === undefined) throw new Error("the guardian needs the cluster's directory as its argument");

let heard = "";
for await (const chunk of process.stdin) heard += String(chunk);
if (!heard.includes("release")) await destroyCluster(directory, realSystem);
