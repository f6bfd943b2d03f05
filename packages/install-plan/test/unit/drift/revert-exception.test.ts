import { expect, test } from "vitest";

import { exceptionText, revertException } from "../../../src/drift/revert-exception.ts";

const wallMs = Date.parse("2026-06-01T00:00:00Z");
const revert = "install.quartermaster.dev/revert";
const until = "install.quartermaster.dev/revert-until";

const invalidUntil = { kind: "invalid", message: expect.stringContaining(until) as string };

interface Row {
  readonly name: string;
  readonly annotations: Readonly<Record<string, string>> | undefined;
  readonly want: object | undefined;
}

test.each<Row>([
  { name: "no annotation", annotations: undefined, want: undefined },
  {
    name: "an end without the annotation",
    annotations: { [until]: "2099-01-01T00:00:00Z" },
    want: undefined,
  },
  { name: "without an end", annotations: { [revert]: "Off" }, want: { kind: "active" } },
  {
    name: "before its end",
    annotations: { [revert]: "Off", [until]: "2026-06-01T00:00:01Z" },
    want: { kind: "active", untilMs: wallMs + 1_000 },
  },
  {
    name: "before its end in another time zone",
    annotations: { [revert]: "Off", [until]: "2026-06-01T03:00:00+02:00" },
    want: { kind: "active", untilMs: wallMs + 3_600_000 },
  },
  { name: "at its end", annotations: { [revert]: "Off", [until]: "2026-06-01T00:00:00Z" }, want: undefined },
  {
    name: "after its end",
    annotations: { [revert]: "Off", [until]: "2026-05-31T23:59:59Z" },
    want: undefined,
  },
  {
    name: "an end that is no time",
    annotations: { [revert]: "Off", [until]: "tomorrow" },
    want: invalidUntil,
  },
  {
    name: "an end that is a date only",
    annotations: { [revert]: "Off", [until]: "2026-07-01" },
    want: invalidUntil,
  },
  {
    name: "an end that does not exist",
    annotations: { [revert]: "Off", [until]: "2026-13-41T00:00:00Z" },
    want: invalidUntil,
  },
  { name: "an empty end", annotations: { [revert]: "Off", [until]: "" }, want: invalidUntil },
  {
    name: "another value, which is not quoted",
    annotations: { [revert]: "off\u001B[31m" },
    want: { kind: "invalid", message: `annotation ${revert} must be "Off"` },
  },
])("an exception from drift repair: $name", ({ annotations, want }) => {
  const metadata = { name: "c", ...(annotations === undefined ? {} : { annotations }) };
  const object = { apiVersion: "v1", kind: "ConfigMap", metadata };
  expect(revertException(object, wallMs)).toEqual(want);
});

test.each([
  { exception: { kind: "active" }, want: `annotation ${revert} keeps it from being reverted` },
  {
    exception: { kind: "active", untilMs: wallMs },
    want: `annotation ${revert} keeps it from being reverted until 2026-06-01T00:00:00Z`,
  },
  { exception: { kind: "invalid", message: "annotation x" }, want: "annotation x; it has no effect" },
] as const)("it is described: $want", ({ exception, want }) => {
  expect(exceptionText(exception)).toBe(want);
});
