import type { Live } from "@quartermaster/runtime";
import type { ContainerStatus, Pod, StatefulSet } from "@quartermaster/runtime/kinds";
import { describe, expect, test } from "vitest";

import { podFacts } from "../../../src/observe-workload.ts";

const set = { metadata: { name: "logs-data", uid: "set" } } as Live<StatefulSet>;

function troubleOf(container: Partial<ContainerStatus>): string | undefined {
  const whole = { name: "opensearch", ready: false, restartCount: 0, ...container };
  const pod = {
    metadata: {
      name: "logs-data-1",
      uid: "pod",
      ownerReferences: [{ uid: "set", controller: true }],
    },
    status: { phase: "Running", containerStatuses: [whole] },
  } as unknown as Live<Pod>;
  return podFacts([pod], new Map([["data", set]]))[0]?.trouble;
}

const terminated = { exitCode: 78, reason: "Error" };
const says =
  "container opensearch ends with exit code 78 and is started again; kubectl logs logs-data-1 -c opensearch --previous says why";

describe("[first-use/18] why a node does not come up", () => {
  test.for<[string, Partial<ContainerStatus>, string | undefined]>([
    ["starts", {}, undefined],
    ["runs after a crash", { ready: true, restartCount: 3, lastState: { terminated } }, undefined],
    [
      "waits between two crashes",
      { restartCount: 3, state: { waiting: { reason: "CrashLoopBackOff" } }, lastState: { terminated } },
      says,
    ],
    ["runs for a moment", { restartCount: 3, state: { running: {} }, lastState: { terminated } }, says],
    ["has just ended", { restartCount: 3, state: { terminated } }, says],
    [
      "ran out of memory",
      { restartCount: 1, lastState: { terminated: { exitCode: 137, reason: "OOMKilled" } } },
      "container opensearch ends with exit code 137 (OOMKilled) and is started again; kubectl logs logs-data-1 -c opensearch --previous says why",
    ],
    [
      "was asked to end",
      { restartCount: 1, lastState: { terminated: { exitCode: 0, reason: "Completed" } } },
      undefined,
    ],
    ["has no image", { state: { waiting: { reason: "ImagePullBackOff" } } }, "opensearch: ImagePullBackOff"],
  ])("a container that %s", ([, container, want]) => {
    expect(troubleOf(container)).toBe(want);
  });
});
