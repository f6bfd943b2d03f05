import { startLocalCluster } from "../../src/index.ts";

/** A program of its own that starts a cluster below the given folder, says so, and then only waits to be ended. */
const [parentFolder, name] = process.argv.slice(2);
const cluster = await startLocalCluster({
  ...(parentFolder === undefined ? {} : { parentFolder }),
  ...(name === undefined ? {} : { name }),
});
process.stdout.write(
  `${JSON.stringify({ folder: cluster.folder, pids: cluster.usage().map(({ pid }) => pid) })}\n`,
);
setInterval(() => undefined, 60_000);
