import { describe, expect, test } from "vitest";
import { parse } from "yaml";

import { toYaml } from "../../src/output/print.ts";
import { changesBetween } from "../../src/render/changes.ts";
import { diffText } from "../../src/render/diff-text.ts";
import { predecessorOf, rollbackPlan } from "../../src/render/rollback-plan.ts";
import { aPlan } from "../support/plans.ts";

describe("changes between two objects", () => {
  test.each([
    { name: "none", given: [{ a: 1 }, { a: 1 }], want: [] },
    { name: "a value", given: [{ a: 1 }, { a: 2 }], want: [{ path: "/a", before: "1", after: "2" }] },
    {
      name: "a field more",
      given: [{}, { a: { b: "x" } }],
      want: [
        { path: "", before: "{}" },
        { path: "/a/b", after: '"x"' },
      ],
    },
    { name: "a field less", given: [{ a: 1, b: 2 }, { a: 1 }], want: [{ path: "/b", before: "2" }] },
    {
      name: "an item of a list",
      given: [{ l: ["a"] }, { l: ["a", "b"] }],
      want: [{ path: "/l/1", after: '"b"' }],
    },
    {
      name: "a key with a slash",
      given: [{ "a/b~": 1 }, { "a/b~": 2 }],
      want: [{ path: "/a~1b~0", before: "1", after: "2" }],
    },
    {
      name: "what the server keeps",
      given: [
        { metadata: { uid: "a", managedFields: [{ a: 1 }], name: "x" } },
        { metadata: { uid: "b", name: "x" } },
      ],
      want: [],
    },
    {
      name: "another type",
      given: [{ a: "1" }, { a: 1 }],
      want: [{ path: "/a", before: '"1"', after: "1" }],
    },
  ])("$name", ({ given, want }) => {
    expect(changesBetween(given[0], given[1], { isSecret: false })).toEqual(want);
  });

  test("values of Secrets are reported as digests only", () => {
    const [before, after] = [{ data: { password: "b2xk" } }, { data: { password: "bmV3" } }];
    const changes = changesBetween(before, after, { isSecret: true });
    expect(JSON.stringify(changes)).not.toMatch(/b2xk|bmV3/);
    expect(changes).toEqual([
      {
        path: "/data/password",
        before: expect.stringMatching(/^sha256:[0-9a-f]{16}$/) as string,
        after: expect.stringMatching(/^sha256:[0-9a-f]{16}$/) as string,
      },
    ]);
  });

  test("are reported as text", () => {
    const object = { apiVersion: "v1", kind: "ConfigMap", namespace: "shop", name: "settings" };
    const text = diffText([
      {
        object,
        stage: "config",
        action: "update",
        changes: [{ path: "/data/a", before: '"1"', after: '"2"' }],
      },
      { object: { ...object, name: "new" }, stage: "config", action: "create", changes: [] },
      { object, stage: "config", action: "none", changes: [] },
      { object, stage: "config", action: "refused", changes: [], message: "not allowed" },
    ]);
    expect(text.split("\n")).toEqual([
      "~ ConfigMap shop/settings  update",
      "    /data/a",
      '      - "1"',
      '      + "2"',
      "+ ConfigMap shop/new  create",
      "! ConfigMap shop/settings  refused: not allowed",
      "3 to change, 1 unchanged",
    ]);
  });
});

describe("YAML for other tools", () => {
  test.each([
    { name: "words that YAML 1.1 takes for booleans", given: { a: ["no", "yes", "on"] } },
    { name: "keys that YAML 1.1 takes for booleans", given: { on: "x", y: "z" } },
    { name: "a bare equals sign", given: { enum: ["=", "=~"] } },
    { name: "digits that are text", given: { mode: "0644", version: "1.10", time: "12:30:45" } },
    { name: "text over lines", given: { text: "a\n  b\n\n" } },
  ])("keeps $name", ({ given }) => {
    expect(parse(toYaml(given), { version: "1.1" })).toEqual(given);
    expect(parse(toYaml(given))).toEqual(given);
  });
});

describe("going back", () => {
  const current = aPlan(
    {
      replaces: [
        { name: "a", state: "Gone" },
        { name: "b", state: "Superseded" },
      ],
    },
    { replaces: { plans: [{ name: "b" }], finishWhen: "Ready", onFailure: "Hold" } },
  );

  test.each([
    { name: "to what was superseded", given: current, want: "b" },
    { name: "to what is named, while the status says nothing", given: { ...current, status: {} }, want: "b" },
    { name: "to nothing", given: aPlan(), want: undefined },
  ])("$name", ({ given, want }) => {
    expect(predecessorOf(given)).toBe(want);
  });

  test("makes a new plan of the old content, without its approval", () => {
    const old = aPlan(
      { phase: "Superseded" },
      { approval: "Manual", approved: true, approvedPreview: "abc", paused: true },
    );
    const plan = rollbackPlan(old, current, "b-again");
    expect(plan.metadata).toEqual({ name: "b-again", namespace: "shop" });
    expect(plan.status).toBeUndefined();
    expect(plan.spec).toMatchObject({
      stages: old.spec.stages,
      approval: "Manual",
      approved: false,
      paused: false,
    });
    expect(plan.spec.replaces?.plans).toEqual([{ name: "web" }]);
    expect(plan.spec.approvedPreview).toBeUndefined();
  });
});
