import { describe, expect, test } from "vitest";

import {
  type AssetStep,
  describeProgress,
  type ProgressEvent,
  progressPrinter,
} from "../../src/assets/progress.ts";

const step: AssetStep = {
  action: "building",
  component: "kube-apiserver",
  version: "v1.36.3",
  position: 1,
  total: 5,
  next: "kubectl",
};
const last: AssetStep = {
  action: "downloading",
  component: "etcd",
  version: "v3.7.3",
  position: 5,
  total: 5,
};

describe("describeProgress", () => {
  const cases: readonly { readonly name: string; readonly given: ProgressEvent; readonly want: string }[] = [
    {
      name: "the start with what comes next",
      given: { kind: "started", step: { ...step, expectedSeconds: 300 } },
      want: "building kube-apiserver v1.36.3 (1 of 5), about 5:00, next: kubectl",
    },
    {
      name: "several that are built in parallel",
      given: {
        kind: "started",
        step: { ...step, others: ["kubectl", "kube-proxy"], next: "etcd", expectedSeconds: 340 },
      },
      want: "building kube-apiserver, kubectl, kube-proxy v1.36.3 (1-3 of 5), about 5:40, next: etcd",
    },
    {
      name: "the time that has passed",
      given: { kind: "advanced", step, elapsedMs: 42_900 },
      want: "building kube-apiserver v1.36.3 (1 of 5) … 0:42, next: kubectl",
    },
    {
      name: "the bytes of a download",
      given: { kind: "advanced", step: last, elapsedMs: 61_000, receivedBytes: 12_400_000 },
      want: "downloading etcd v3.7.3 (5 of 5) … 1:01, 12 MB",
    },
    {
      name: "the end",
      given: { kind: "finished", step, elapsedMs: 299_000 },
      want: "building kube-apiserver v1.36.3 (1 of 5): done in 4:59",
    },
    {
      name: "a failure",
      given: { kind: "failed", step: last, reason: "the checksum is wrong" },
      want: "downloading etcd v3.7.3 (5 of 5): the checksum is wrong",
    },
    { name: "a note", given: { kind: "note", text: "waiting for process 7" }, want: "waiting for process 7" },
  ];
  test.each(cases)("tells $name", ({ given, want }) => {
    expect(describeProgress(given)).toBe(want);
  });
});

describe("progressPrinter", () => {
  test("writes a line at start and end and every 30 s to a log", () => {
    const { printed, report } = recorder({});
    report(0, { kind: "started", step });
    for (let second = 1; second <= 65; second += 1)
      report(second, { kind: "advanced", step, elapsedMs: second * 1000 });
    report(66, { kind: "finished", step, elapsedMs: 66_000 });
    expect(printed().split("\n")).toEqual([
      "building kube-apiserver v1.36.3 (1 of 5), next: kubectl",
      "building kube-apiserver v1.36.3 (1 of 5) … 0:30, next: kubectl",
      "building kube-apiserver v1.36.3 (1 of 5) … 1:00, next: kubectl",
      "building kube-apiserver v1.36.3 (1 of 5): done in 1:06",
      "",
    ]);
  });

  test("rewrites one line with all running steps on a terminal, and keeps what is finished", () => {
    const { printed, report } = recorder({ isTTY: true, columns: 200 });
    report(0, { kind: "started", step });
    report(0, { kind: "started", step: last });
    report(1, { kind: "finished", step, elapsedMs: 1000 });
    const screen = printed()
      .split("\n")
      .map((line) => line.split("\u001b[2K").at(-1));
    expect(screen).toEqual([
      "building kube-apiserver v1.36.3 (1 of 5): done in 0:01",
      "downloading etcd v3.7.3 (5 of 5)",
    ]);
    expect(printed()).toContain("next: kubectl | downloading etcd");
  });

  test("never lets the line wrap on a narrow terminal", () => {
    const { printed, report } = recorder({ isTTY: true, columns: 30 });
    report(0, { kind: "started", step });
    expect(printed().split("\u001b[2K").at(-1)).toHaveLength(29);
  });
});

function recorder(terminal: { readonly isTTY?: boolean; readonly columns?: number }) {
  let text = "";
  let nowMs = 0;
  const stream = {
    ...terminal,
    write: (chunk: string) => {
      text += chunk;
    },
  };
  const print = progressPrinter(stream, { nowMs: () => 1_000_000 + nowMs });
  return {
    printed: () => text,
    report: (second: number, event: ProgressEvent) => {
      nowMs = second * 1000;
      print(event);
    },
  };
}
