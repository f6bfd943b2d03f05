import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";

import { expect, test } from "vitest";

import { thisPlatform } from "../../src/assets/platform.ts";
import { realSystem } from "../../src/system/system.ts";
import type { Workshop } from "./asset-workshop.ts";
import { openWorkshop, say } from "./asset-workshop.ts";

const { os, arch } = thisPlatform();
const kubectlPath = `/kubernetes/v1.99.1/bin/${os}/${arch}/kubectl`;
const released = "#!/bin/sh\necho released\n";

test("takes a release whose checksum is right, and does not ask again", async () => {
  await using workshop = await openWorkshop();
  await using site = await openSite({ [kubectlPath]: released, [`${kubectlPath}.sha256`]: sumOf(released) });
  const binaries = await workshop.resolve({ components: ["kubectl"] }, online(site));
  expect(say(binaries.path("kubectl"))).toBe("released");
  expect(workshop.lines).toEqual([
    "downloading kubectl v1.99.1 (1 of 1)",
    "downloading kubectl v1.99.1 (1 of 1): done in 0:00",
  ]);
  const requested = site.requests.length;
  await workshop.resolve({ components: ["kubectl"] }, online(site));
  expect(site.requests).toHaveLength(requested);
});

test("unpacks a release archive", async () => {
  await using workshop = await openWorkshop();
  const archive = await archiveOf(workshop, `etcd-v3.9.9-${os}-${arch}`);
  const name = `etcd-v3.9.9-${os}-${arch}.tar.gz`;
  const sums = `${sumOf("other")}  other.tar.gz\n${sumOf(archive)}  ${name}\n`;
  await using site = await openSite({ [`/etcd/v3.9.9/${name}`]: archive, "/etcd/v3.9.9/SHA256SUMS": sums });
  const binaries = await workshop.resolve({}, online(site));
  expect(say(binaries.path("etcd"))).toBe("released");
  expect(await workshop.cacheContent("etcd")).toEqual(["etcd", "etcd.seal.json"]);
});

test("refuses a release whose checksum is wrong and builds instead", async () => {
  await using workshop = await openWorkshop();
  await using site = await openSite({
    [kubectlPath]: `${released}# evil\n`,
    [`${kubectlPath}.sha256`]: sumOf(released),
  });
  const binaries = await workshop.resolve({ components: ["kubectl"] }, online(site));
  expect(say(binaries.path("kubectl"))).toBe("kubectl");
  expect(workshop.lines).toContain(
    "downloading kubectl v1.99.1 (1 of 1): the checksum of kubectl is wrong, it was refused",
  );
});

test("does not even fetch what has no published checksum", async () => {
  await using workshop = await openWorkshop();
  await using site = await openSite({ [kubectlPath]: released });
  const binaries = await workshop.resolve({ components: ["kubectl"] }, online(site));
  expect(say(binaries.path("kubectl"))).toBe("kubectl");
  expect(site.requests).not.toContain(`GET ${kubectlPath}`);
});

test("knocks once at a site that does not answer, gives up after three seconds and says so once", async () => {
  await using workshop = await openWorkshop();
  await using site = await openSite("silent");
  const started = realSystem.nowMs();
  const binaries = await workshop.resolve(
    { components: ["kube-apiserver", "kubectl", "etcd"] },
    online(site),
  );
  expect(site.requests).toEqual(["HEAD /"]);
  expect(realSystem.nowMs() - started).toBeGreaterThan(2900);
  expect(say(binaries.path("kubectl"))).toBe("kubectl");
  expect(workshop.lines.filter((line) => !line.startsWith("building"))).toEqual([
    expect.stringMatching(
      /^3 programs are not in the cache and cannot be downloaded \(.* cannot be reached\)/,
    ),
  ]);
});

test("builds when a download breaks off, and does not turn to that site again", async () => {
  await using workshop = await openWorkshop();
  const apiserverPath = kubectlPath.replace("kubectl", "kube-apiserver");
  await using site = await openSite({
    [apiserverPath]: "cut",
    [`${apiserverPath}.sha256`]: sumOf(released),
    [`${kubectlPath}.sha256`]: sumOf(released),
  });
  const binaries = await workshop.resolve({ components: ["kube-apiserver", "kubectl"] }, online(site));
  expect(say(binaries.path("kube-apiserver"))).toBe("kube-apiserver");
  expect(site.requests.filter((request) => request.includes("kubectl"))).toEqual([]);
});

test("asks no one when QM_ASSETS_OFFLINE is set", async () => {
  await using workshop = await openWorkshop();
  await using site = await openSite({});
  await workshop.resolve({}, { QM_RELEASE_MIRROR: site.url });
  expect(site.requests).toEqual([]);
});

interface Site extends AsyncDisposable {
  readonly url: string;
  readonly requests: readonly string[];
}

/** A release site on loopback. The content "cut" is sent as half a file, then the connection breaks; "silent" never answers. */
async function openSite(content: Readonly<Record<string, string | Buffer>> | "silent"): Promise<Site> {
  const requests: string[] = [];
  const server = createServer((request, response) => {
    const path = request.url ?? "";
    requests.push(`${request.method ?? ""} ${path}`);
    if (content === "silent") return;
    const file = content[path];
    if (file === "cut") {
      response.writeHead(200, { "content-length": "1000" });
      response.write("half", () => response.destroy());
      return;
    }
    response.writeHead(file === undefined ? 404 : 200).end(file ?? "not found");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function online(site: Site): Readonly<Record<string, string>> {
  return { QM_ASSETS_OFFLINE: "0", QM_RELEASE_MIRROR: site.url };
}

function sumOf(content: string | Buffer): string {
  return createHash("sha256").update(content).digest("hex");
}

async function archiveOf(workshop: Workshop, stem: string): Promise<Buffer> {
  await mkdir(join(workshop.directory, stem));
  await writeFile(join(workshop.directory, stem, "etcd"), released);
  execFileSync("tar", ["-czf", "archive.tgz", stem], { cwd: workshop.directory });
  return await readFile(join(workshop.directory, "archive.tgz"));
}
