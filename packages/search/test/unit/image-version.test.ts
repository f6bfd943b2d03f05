import { describe, expect, test } from "vitest";

import { imageIssues, otherVersion, versionOfImage } from "../../src/model/image-version.ts";
import { aSearchCluster } from "../a-search-cluster.ts";

describe("[security/109] the version of an image", () => {
  test.for<[string, string | undefined]>([
    ["opensearchproject/opensearch:2.19.4", "2.19.4"],
    ["registry.example.com:5000/search/opensearch:v2.19.4-patched", "2.19.4"],
    ["registry:5000/opensearch:2.19.4@sha256:0123", "2.19.4"],
    ["opensearch@sha256:0123", undefined],
    ["registry:2.19.4/opensearch", undefined],
    ["opensearch:latest", undefined],
    ["opensearch:custom-2.19.4", undefined],
    ["opensearch:2.19", undefined],
    ["opensearch:2.19.4.1", "2.19.4"],
    ["", undefined],
  ])("%s", ([image, want]) => {
    expect(versionOfImage(image)).toBe(want);
  });
});

const running = { version: "2.19.4", image: "own/search:2.19.4" };

describe("[security/109] what is another version than the nodes run", () => {
  test.for<[string, string, string, typeof running, string | undefined]>([
    ["the same", "2.19.4", "own/search:2.19.4", running, undefined],
    ["another version, as declared", "2.20.0", "own/search:2.20.0", running, "2.20.0"],
    ["another version by its image alone", "2.19.4", "own/search:3.0.0", running, "3.0.0"],
    ["an older one by its image alone", "2.19.4", "own/search:2.18.0", running, "2.18.0"],
    ["another build of the same version", "2.19.4", "other/search:2.19.4-r2", running, undefined],
    ["an image that says nothing: the spec says it", "2.19.4", "own/search@sha256:01", running, undefined],
    [
      "a tag that counts something else, and runs",
      "2.19.4",
      "own/search:1.0.0",
      { ...running, image: "own/search:1.0.0" },
      undefined,
    ],
  ])("%s", ([, version, name, now, want]) => {
    expect(otherVersion({ version, image: { name, pullSecrets: [] } }, now)).toBe(want);
  });

  test.for<[string, string, string, number]>([
    ["equal", "2.19.4", "own/search:2.19.4", 0],
    ["the image says nothing", "2.19.4", "own/search:latest", 0],
    ["they contradict each other", "2.19.4", "own/search:3.0.0", 1],
  ])("before a cluster has formed: %s", ([, version, name, want]) => {
    const image = { ...aSearchCluster().image, name };
    expect(imageIssues({ version, image })).toHaveLength(want);
  });
});
