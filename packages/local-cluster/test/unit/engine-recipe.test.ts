import { execFileSync } from "node:child_process";

import { describe, expect, test } from "vitest";

import { ENGINE_VERSIONS, engineRecipe, recipeHash } from "../../src/engines/engine-recipe.ts";
import { artifactPath } from "../../src/engines/maven.ts";
import { imageDirectory } from "../../src/engines/provide-engine-image.ts";
import { merged, parseLibraries } from "../../src/engines/system-files.ts";

describe("recipes of engine images", () => {
  test("an image has the name, the home and the entry point of the official one", () => {
    expect(engineRecipe({ engine: "opensearch", version: "2.19.4" })).toMatchObject({
      imageName: "docker.io/opensearchproject/opensearch:2.19.4",
      home: "/usr/share/opensearch",
      entrypoint: ["./opensearch-docker-entrypoint.sh"],
      command: ["opensearch"],
      plugins: ["org.opensearch.plugin:opensearch-security:2.19.4.0:zip"],
    });
    expect(engineRecipe({ engine: "elasticsearch", version: "7.17.28" })).toMatchObject({
      imageName: "docker.elastic.co/elasticsearch/elasticsearch:7.17.28",
      home: "/usr/share/elasticsearch",
      entrypoint: ["/usr/local/bin/docker-entrypoint.sh"],
      plugins: [],
    });
  });

  test("another version or another script is another directory of the cache", () => {
    const recipe = engineRecipe({ engine: "opensearch", version: "2.19.4" });
    const changed = { ...recipe, scripts: { "usr/bin/x": "#!/bin/sh\n" } };
    expect(recipeHash(changed)).not.toBe(recipeHash(recipe));
    expect(imageDirectory(recipe)).toMatch(/^opensearch-2\.19\.4-[0-9a-f]{12}-linux-/);
    expect(new Set(ENGINE_VERSIONS.map((each) => imageDirectory(engineRecipe(each)))).size).toBe(
      ENGINE_VERSIONS.length,
    );
  });

  test.for(["opensearch", "elasticsearch"] as const)(
    "the entry point of %s is a script that bash can read",
    (engine) => {
      for (const text of Object.values(engineRecipe({ engine, version: "1.0.0" }).scripts))
        execFileSync("bash", ["-n"], { input: text });
      expect(Object.keys(engineRecipe({ engine, version: "1.0.0" }).scripts)).toHaveLength(1);
    },
  );
});

describe("parts of images", () => {
  test("an artifact lies where Maven keeps it", () => {
    expect(artifactPath("org.opensearch.plugin:opensearch-security:2.19.4.0:zip")).toBe(
      "org/opensearch/plugin/opensearch-security/2.19.4.0/opensearch-security-2.19.4.0.zip",
    );
    expect(() => artifactPath("a:b:c")).toThrow("group:artifact:version:type");
  });

  test("libraries are those that the loader finds, each once", () => {
    const output = `/bin/bash:
	linux-vdso.so.1 (0x00007ffc)
	libtinfo.so.6 => /lib/x86_64-linux-gnu/libtinfo.so.6 (0x00007f)
	libX11.so.6 => not found
	/lib64/ld-linux-x86-64.so.2 (0x00007f)
/bin/other:
	libtinfo.so.6 => /lib/x86_64-linux-gnu/libtinfo.so.6 (0x00007f)
`;
    expect(parseLibraries(output)).toEqual([
      "/lib/x86_64-linux-gnu/libtinfo.so.6",
      "/lib64/ld-linux-x86-64.so.2",
    ]);
  });

  test.for([
    { given: "/lib64/ld-linux-x86-64.so.2", want: "usr/lib64/ld-linux-x86-64.so.2" },
    { given: "/usr/lib/x86_64-linux-gnu/libz.so.1", want: "usr/lib/x86_64-linux-gnu/libz.so.1" },
  ])("$given lies below the merged /usr", ({ given, want }) => {
    expect(merged(given)).toBe(want);
  });
});
