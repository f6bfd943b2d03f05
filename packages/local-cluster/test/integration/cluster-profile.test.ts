import { spawn } from "node:child_process";
import { join } from "node:path";
import { text } from "node:stream/consumers";

import { expect, test } from "vitest";

interface Output {
  readonly profile: string;
  readonly notes: readonly string[];
  readonly nodes: string;
}

/** Starts a cluster in a mount namespace in which this machine has no containerd. */
async function startWithoutContainerd(): Promise<Output> {
  const script = join(import.meta.dirname, "profile-launcher.ts");
  const hide =
    'for f in /usr/bin/containerd /usr/local/bin/containerd; do [ -e "$f" ] && mount --bind /dev/null "$f"; done; exec "$@"';
  const child = spawn("unshare", ["--mount", "sh", "-c", hide, "sh", process.execPath, script], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  return JSON.parse(await text(child.stdout)) as Output;
}

test.runIf(process.getuid?.() === 0)(
  "[local-cluster/LC-25] says once what real nodes lack and makes the same nodes simulated instead",
  async () => {
    const { profile, notes, nodes } = await startWithoutContainerd();
    expect(notes).toHaveLength(1);
    const [message] = notes;
    // A clean machine lacks more than containerd, and the message lists all of it.
    expect(message).toMatch(/lacks: ([^.]+, )?containerd[,.]/);
    expect(message).toMatch(/apt-get install ([a-z0-9-]+ )*containerd[ .]/);
    expect(message).toContain("control-plane profile is used instead");
    expect(profile).toBe("control-plane");
    expect(nodes).toBe("node/node-1 node/node-2");
  },
);
