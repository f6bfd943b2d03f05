import { startLocalCluster } from "../../src/index.ts";

/** A program of its own that starts a cluster below the given directory, says so, and then only waits to be ended. */
const [parentDirectory, name] = process.argv.slice(2);
const cluster = await startLocalCluster({
  ...(parentDirectory === undefined ? {} : { parentDirectory }),
  ...(name === undefined ? {} : { name }),
});
process.stdout.write(
  `${JSON.stringify({ directory: cluster.directory, pids: cluster.usage().map(({ pid }) => pid) })}\n`,
);
setInterval(() => undefined, 60_000);
