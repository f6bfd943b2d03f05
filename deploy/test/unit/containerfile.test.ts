import { readFileSync } from "node:fs";
import { join } from "node:path";

import { describe, expect, test } from "vitest";

import { entrypointOf } from "../../image/program-files.ts";
import { operatorImage, searchExporterImage, shareDriverImage } from "../../image/program-images.ts";

const deploy = join(import.meta.dirname, "../..");

describe.each([
  { image: operatorImage, containerfile: "Containerfile", manifest: "install.yaml", flags: "" },
  {
    image: shareDriverImage,
    containerfile: "share-driver.Containerfile",
    manifest: "share-driver.yaml",
    flags: "--image share-driver ",
  },
  {
    image: searchExporterImage,
    containerfile: "search-exporter.Containerfile",
    // The operator deploys it: what it requests is this default.
    manifest: "../packages/search/src/model/read-monitoring.ts",
    flags: "--image search-exporter ",
  },
])("$image.name", ({ image, containerfile, manifest, flags }) => {
  const text = readFileSync(join(deploy, "image", containerfile), "utf8");
  const lineOf = (terms: string): string | undefined => new RegExp(`^${terms} (.*)$`, "m").exec(text)?.[1];

  test("an engine makes the same image as we do", () => {
    expect(JSON.parse(lineOf("ENTRYPOINT") ?? "")).toEqual(entrypointOf(image.program));
    expect(lineOf("USER")).toBe(image.user);
    expect(lineOf("COPY")).toBe(". .");
    expect(text).toContain(`main.ts ${flags}--files /image`);
    expect(text).toContain("COPY --from=build /image/ /");
  });

  test("what is deployed is what is built", () => {
    expect(readFileSync(join(deploy, manifest), "utf8")).toMatch(
      new RegExp(`[iI]mage(?:: | = ")${RegExp.escape(image.name)}"?;?\n`),
    );
    expect(text).toContain(`-t ${image.name} `);
  });
});
