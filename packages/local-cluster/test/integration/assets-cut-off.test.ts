import { execFileSync, spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { readdir, readFile, truncate, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { expect, test } from "vitest";

import { realSystem } from "../../src/system/system.ts";
import type { Workshop } from "./asset-workshop.ts";
import { openWorkshop, say } from "./asset-workshop.ts";

const resolver = join(import.meta.dirname, "asset-resolver.ts");

test("[local-cluster/LC-02] a build killed half-way leaves nothing that is taken for a binary, and the next run builds again", async () => {
  await using workshop = await openWorkshop();
  // An empty compile cache makes the build last for seconds, so that it is certain to be in progress when it is killed.
  const child = startResolver(workshop, { GOCACHE: join(workshop.directory, "empty-go-cache") });
  await until("a compiler runs", async () => (await compilersOf(workshop)).length > 0);
  child.kill("SIGKILL");
  await until(
    "the compilers are gone with the killed run",
    async () => (await compilersOf(workshop)).length === 0,
  );
  expect(await workshop.cacheContent("etcd")).toEqual(
    expect.arrayContaining([expect.stringMatching(/^work-/), "lock"]),
  );
  expect(await workshop.cacheContent("etcd")).not.toContain("etcd");

  const binaries = await workshop.resolve({});

  expect(workshop.lines[0]).toBe("building etcd v3.9.9 (1 of 1), about 0:30");
  expect(say(binaries.path("etcd"))).toBe("etcd");
  expect(await workshop.cacheContent("etcd")).toEqual(["etcd", "etcd.seal.json"]);
});

test("[local-cluster/LC-02] a run killed while Go writes the program never has the torn file run", async () => {
  await using workshop = await openWorkshop();
  const torn =
    '#!/bin/sh\n[ "$1" = build ] || exec go-real "$@"\nwhile [ "$1" != -o ]; do shift; done\nprintf torn > "$2"\nsleep 60\n';
  const path = await workshop.script("go", torn.replace("go-real", realGo()));
  const child = startResolver(workshop, { PATH: path });
  await until("the torn file is there", async () => (await tornFiles(workshop)).length > 0);
  child.kill("SIGKILL");
  await until("Go is gone with the killed run", async () => (await compilersOf(workshop)).length === 0);

  const binaries = await workshop.resolve({});

  expect(say(binaries.path("etcd"))).toBe("etcd");
  expect(await workshop.cacheContent("etcd")).toEqual(["etcd", "etcd.seal.json"]);
});

test("an aborted build ends its compilers immediately and clears its work away", async () => {
  await using workshop = await openWorkshop();
  const stop = new AbortController();
  const reason = new Error("enough");
  const running = workshop.resolve(
    { signal: stop.signal },
    { GOCACHE: join(workshop.directory, "empty-go-cache") },
  );
  const outcome = running.catch((error: unknown) => error);
  await until("a compiler runs", async () => (await compilersOf(workshop)).length > 0);
  stop.abort(reason);
  expect(await outcome).toBe(reason);
  await until("the compilers are gone", async () => (await compilersOf(workshop)).length === 0);
  expect(await workshop.cacheContent("etcd")).toEqual([]);
});

test("two resolvers at the same time build once: the second waits and takes what the first has made", async () => {
  await using workshop = await openWorkshop();
  const slow = `#!/bin/sh\n[ "$1" = build ] && sleep 3\nexec ${realGo()} "$@"\n`;
  const path = await workshop.script("go", slow);
  const children = [startResolver(workshop, { PATH: path }), startResolver(workshop, { PATH: path })];
  const outputs = await Promise.all(children.map(outputOf));
  expect(outputs.filter((text) => text.includes("building etcd"))).toHaveLength(1);
  expect(outputs.filter((text) => /waiting for process \d+, which/.test(text))).toHaveLength(1);
  expect(outputs.filter((text) => /resolved .*\/etcd\n$/.test(text))).toHaveLength(2);
  expect(await workshop.cacheContent("etcd")).toEqual(["etcd", "etcd.seal.json"]);
});

test("two requests at once in one process build once", async () => {
  await using workshop = await openWorkshop();
  const [first, second] = await Promise.all([workshop.resolve({}), workshop.resolve({})]);
  expect(first.path("etcd")).toBe(second.path("etcd"));
  expect(workshop.lines.filter((line) => line.includes("done in"))).toHaveLength(1);
});

const damages = [
  {
    name: "truncated",
    harm: async (path: string) => await truncate(path, 1000),
    want: /it has 1000 bytes instead of \d+/,
  },
  {
    name: "altered",
    harm: async (path: string) => {
      const bytes = await readFile(path);
      bytes.fill(0, 5000, 6000);
      await writeFile(path, bytes);
    },
    want: /its checksum is wrong/,
  },
  {
    name: "unsealed",
    harm: async (path: string) => await writeFile(`${path}.seal.json`, '{"sha'),
    want: /it has no record of its checksum/,
  },
];
test.each(damages)(
  "a $name binary in the cache is found out, told in one sentence and made again",
  async ({ harm, want }) => {
    await using workshop = await openWorkshop();
    await harm((await workshop.resolve({})).path("etcd"));
    const before = workshop.lines.length;
    const binaries = await workshop.resolve({});
    expect(workshop.lines[before]).toMatch(
      /^etcd in the cache is broken \(.*\); it was removed and is created again$/,
    );
    expect(workshop.lines[before]).toMatch(want);
    expect(say(binaries.path("etcd"))).toBe("etcd");
  },
);

test("a sound binary whose time stamp was changed by a copy is kept", async () => {
  await using workshop = await openWorkshop();
  const path = (await workshop.resolve({})).path("etcd");
  await utimes(path, 1_000_000, 1_000_000);
  const before = workshop.lines.length;
  await workshop.resolve({});
  await workshop.resolve({});
  expect(workshop.lines.slice(before)).toEqual([]);
});

function startResolver(workshop: Workshop, env: Readonly<Record<string, string>>): ChildProcess {
  const options = {
    env: { ...workshop.env, ...env },
    stdio: ["ignore", "pipe", "inherit"] as ("ignore" | "pipe" | "inherit")[],
  };
  return spawn(process.execPath, [resolver, workshop.goDirectory], options);
}

async function outputOf(child: ChildProcess): Promise<string> {
  let text = "";
  for await (const chunk of child.stdout ?? []) text += String(chunk);
  return text;
}

/** Pids of processes whose temporary directory lies in the workshop: Go hands it on to every compiler it starts. */
async function compilersOf(workshop: Workshop): Promise<readonly string[]> {
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  const commands = await Promise.all(
    pids.map(async (pid) => await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "")),
  );
  return pids.filter(
    (_, location) => commands[location]?.includes(join(workshop.directory, "cache")) === true,
  );
}

async function tornFiles(workshop: Workshop): Promise<readonly string[]> {
  const root = join(workshop.directory, "cache");
  const entries = await readdir(root, { recursive: true }).catch(() => []);
  return entries.filter((entry) => /work-[^/]+\/etcd$/.test(entry));
}

function realGo(): string {
  return execFileSync("/bin/sh", ["-c", "command -v go"], { encoding: "utf8" }).trim();
}

async function until(what: string, isSo: () => Promise<boolean>): Promise<void> {
  for (let attempt = 0; attempt < 600; attempt += 1) {
    if (await isSo()) return;
    await realSystem.sleep(50);
  }
  throw new Error(`waited for 30 s in vain until ${what}`);
}
