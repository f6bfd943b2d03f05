import { describe, expect, test } from "vitest";
import { parse } from "yaml";

import { cleanLines, cleanText } from "../../src/output/clean-text.ts";
import { toJson, toYaml } from "../../src/output/print.ts";
import { diffText, previewText } from "../../src/render/diff-text.ts";
import { statusTree } from "../../src/render/status-tree.ts";
import { aPlan } from "../support/plans.ts";
import { creating } from "../support/previews.ts";
import { type } from "../support/user.ts";

const evil = "\u{1b}]0;owned\u{7}\u{9b}2J\r\u{202e}";
// oxlint-disable-next-line no-control-regex -- control characters are what it is about
const steering = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e]/;
const role = { apiVersion: "rbac.authorization.k8s.io/v1", kind: "ClusterRole", name: `a${evil}` };

describe("what steers a terminal does not reach it", () => {
  test.each([
    { name: "a cut text", text: cleanText(evil) },
    { name: "lines", text: cleanLines(`a\n${evil}`, { colors: false }) },
    {
      name: "the tree",
      text: statusTree(aPlan({ details: [{ stage: "config", index: 0, object: role, state: "Failed" }] })),
    },
    {
      name: "the preview",
      text: previewText(
        aPlan({
          preview: {
            ...creating("d", 1),
            details: [{ stage: "config", index: 0, object: role, action: "create" }],
          },
        }),
      ),
    },
    {
      name: "the diff",
      text: diffText([{ object: role, stage: "a", action: "refused", changes: [], message: evil }]),
    },
  ])("in $name", ({ text }) => {
    expect(text).not.toMatch(steering);
  });

  test("in errors about files", async () => {
    const input = JSON.stringify({ apiVersion: "v1", kind: `Config${evil}`, metadata: { name: `a${evil}` } });
    const { code, err } = await type(["pack", "-", "--name", "a"], { input });
    expect(code).toBe(1);
    expect(err).not.toMatch(steering);
  });

  test("in a plan of a file that is explained", async () => {
    const plan = aPlan();
    const input = JSON.stringify({ ...plan, metadata: { ...plan.metadata, name: `a${evil}` } });
    const { out } = await type(["plan", "explain", "-f", "-"], { input });
    expect(out).toContain("is not observed yet");
    expect(out).not.toMatch(steering);
  });

  test("in data, which says the same all the same", () => {
    const data = { [`k\u{9b}`]: "a\u{9b}2J\u{7f}\u{1b}" };
    for (const text of [toJson(data), toYaml(data)]) {
      expect(text).not.toMatch(steering);
      expect(parse(text)).toEqual(data);
    }
  });
});

test("our own colours stay", () => {
  const text = "\u{1b}[31mbad\u{1b}[0m\nnext";
  expect(cleanLines(text, { colors: true })).toBe(text);
  expect(cleanLines(`${text}\u{1b}[2J`, { colors: true })).toBe(`${text} [2J`);
});
