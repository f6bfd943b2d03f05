import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { expect, test } from "vitest";
import { z } from "zod";

import { provideProgramImage } from "../../src/debian/provide-program-image.ts";
import { realSystem } from "../../src/system/system.ts";

const descriptor = z.object({ digest: z.string() });
const indexSchema = z.object({
  manifests: z.tuple([descriptor.extend({ annotations: z.record(z.string(), z.string()) })]),
});
const manifestSchema = z.object({ config: descriptor, layers: z.tuple([descriptor]) });
const configSchema = z.object({
  config: z.object({
    Entrypoint: z.array(z.string()),
    User: z.string(),
    Labels: z.record(z.string(), z.string()),
  }),
});

/** Debian's smallest program that needs a library. */
const request = {
  name: "docker.io/example/hostname:1",
  packageName: "hostname",
  program: "bin/hostname",
  user: "65534",
} as const;

test.runIf(existsSync("/usr/bin/dpkg-deb"))(
  "a program of Debian's becomes an image under any name, once (skipped where there is no dpkg)",
  async () => {
    const cache = mkdtempSync(join(tmpdir(), "program-image-"));
    try {
      const system = { ...realSystem, env: { ...realSystem.env, XDG_CACHE_HOME: cache } };
      const { name, directory } = await provideProgramImage(request, system);
      const blob = (digest: string): string => join(directory, "blobs", ...digest.split(":"));
      const json = (path: string): unknown => JSON.parse(readFileSync(path, "utf8"));
      const [manifest] = indexSchema.parse(json(join(directory, "index.json"))).manifests;
      expect(manifest.annotations["org.opencontainers.image.ref.name"]).toBe(name);
      const { config, layers } = manifestSchema.parse(json(blob(manifest.digest)));
      const { Entrypoint, User, Labels } = configSchema.parse(json(blob(config.digest))).config;
      expect({ Entrypoint, User }).toEqual({ Entrypoint: ["/bin/hostname"], User: "65534" });
      expect(Labels["quartermaster.local/debian-package"]).toMatch(/^hostname \d/);
      const files = readFileSync(blob(layers[0].digest)).toString("latin1");
      for (const path of ["usr/bin/hostname", "libc.so.6", "ld-linux"]) expect(files).toContain(path);

      expect(await provideProgramImage(request, system)).toEqual({ name, directory });
      // Nothing half-done is left beside it.
      expect(readdirSync(join(cache, "quartermaster/programs"))).toHaveLength(1);
    } finally {
      rmSync(cache, { recursive: true });
    }
  },
);
