import { expect, test } from "vitest";

import { identifyProcess, isAlive, parseStatLine } from "../../src/process/process-identity.ts";

const rest = (state: string, startTicks: string, threadCount = 1): string =>
  `${state} ${Array.from({ length: 16 }, () => "0").join(" ")} ${threadCount} 0 ${startTicks} 0 0`;

test.each([
  { name: "a plain line", line: `42 (etcd) ${rest("S", "777")}`, want: { pid: 42, startTicks: "777" } },
  {
    name: "a name with spaces and parentheses",
    line: `42 (a) b (c) ${rest("R", "777")}`,
    want: { pid: 42, startTicks: "777" },
  },
  { name: "a zombie, which is dead", line: `42 (etcd) ${rest("Z", "777")}`, want: undefined },
  {
    name: "a zombie whose threads still hold its ports",
    line: `42 (etcd) ${rest("Z", "777", 3)}`,
    want: { pid: 42, startTicks: "777" },
  },
  { name: "a record that was cut off", line: "42 (et", want: undefined },
  { name: "an empty record", line: "", want: undefined },
])("reads $name", ({ line, want }) => {
  expect(parseStatLine(line)).toEqual(want);
});

test("knows itself, and does not take another start time for itself", () => {
  const identity = identifyProcess(process.pid);
  expect(identity?.pid).toBe(process.pid);
  expect(isAlive({ pid: process.pid, startTicks: identity?.startTicks ?? "" })).toBe(true);
  expect(isAlive({ pid: process.pid, startTicks: "1" })).toBe(false);
});
