import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";

import { hasRealNodes } from "@quartermaster/testkit";
import { describe, expect, test } from "vitest";
import { z } from "zod";

import { engineRecipe, type EngineVersion, provideEngineImage } from "../../src/engines/index.ts";

const descriptor = z.object({ digest: z.string() });
const indexSchema = z.object({
  manifests: z.tuple([descriptor.extend({ annotations: z.record(z.string(), z.string()) })]),
});
const manifestSchema = z.object({ config: descriptor, layers: z.tuple([descriptor]) });
const configSchema = z.object({
  config: z.object({
    Entrypoint: z.array(z.string()),
    Cmd: z.array(z.string()),
    User: z.string(),
    WorkingDir: z.string(),
    Env: z.array(z.string()),
  }),
});

/** Makes the images where they are not in the cache: then it takes minutes, and a machine that reaches Maven Central. */
const minutes = 10 * 60_000;

describe.runIf(hasRealNodes())("images of engines", () => {
  test.for<EngineVersion>([
    { engine: "opensearch", version: "2.19.4" },
    { engine: "elasticsearch", version: "7.17.28" },
  ])("$engine $version has the layout of the official image", { timeout: minutes }, async (wanted) => {
    const recipe = engineRecipe(wanted);
    const { name, directory } = await provideEngineImage(wanted);
    const blob = (digest: string): string => join(directory, "blobs", ...digest.split(":"));
    const read = (path: string): unknown => JSON.parse(readFileSync(path, "utf8"));
    const [top] = indexSchema.parse(read(join(directory, "index.json"))).manifests;
    const manifest = manifestSchema.parse(read(blob(top.digest)));
    const { config } = configSchema.parse(read(blob(manifest.config.digest)));
    const [{ digest }] = manifest.layers;
    const listing = execFileSync("tar", ["-tvf", blob(digest), "--numeric-owner"], {
      encoding: "utf8",
      maxBuffer: 2 ** 26,
    });
    const entry = (path: string): string | undefined =>
      listing.split("\n").find((line) => line.endsWith(` ${path}`) || line.includes(` ${path} -> `));

    expect(top.annotations["io.containerd.image.name"]).toBe(name);
    const { Env: variables, ...facts } = config;
    expect(facts).toEqual({
      Entrypoint: recipe.entrypoint,
      Cmd: recipe.command,
      User: recipe.user,
      WorkingDir: recipe.home,
    });
    expect(variables).toEqual(
      Object.entries(recipe.env)
        .map(([key, value]) => `${key}=${value}`)
        .toSorted(),
    );
    const home = recipe.home.slice(1);
    expect(entry(`${home}/bin/${wanted.engine}`)).toMatch(/^-rwxr.xr.x 1000\/0 /);
    expect(entry(`${home}/bin/${wanted.engine}-keystore`)).toMatch(/^-rwx/);
    expect(entry(`${home}/jdk/bin/java`)).toMatch(/^-rwxr-xr-x/);
    expect(entry("usr/bin/bash")).toMatch(/^-rwxr-xr-x 0\/0 /);
    expect(entry("tmp/")).toMatch(/^drwxrwxrwt 0\/0 /);
    for (const path of Object.keys(recipe.scripts)) expect(entry(path)).toMatch(/^-rwxr-xr-x/);
    for (const part of ["config/", "data/", "logs/", "plugins/"])
      expect(entry(`${home}/${part}`)).toMatch(/^drwx.* 1000\/0 /);
    const hasSecurity =
      entry(`${home}/plugins/opensearch-security/plugin-descriptor.properties`) !== undefined;
    expect(hasSecurity).toBe(wanted.engine === "opensearch");
  });
});
