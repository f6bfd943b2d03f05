import type { KubeObject } from "@quartermaster/runtime";
import { describe, expect, test } from "vitest";

import { healthOf, podTroubleOf } from "../../src/index.ts";

function aPod(name: string, status: object, metadata: object = {}): KubeObject {
  return { apiVersion: "v1", kind: "Pod", metadata: { name, ...metadata }, status } as KubeObject;
}

const image = "shop.example/web:2";
const waiting = (reason: string, message?: string): object => ({
  name: "main",
  image,
  state: { waiting: { reason, message } },
});
const ended = (exitCode: number, reason = "Error"): object => ({ terminated: { exitCode, reason } });
const ready = aPod("web-0", {
  phase: "Running",
  conditions: [{ type: "Ready", status: "True" }],
  containerStatuses: [{ name: "main", image, ready: true, state: { running: {} } }],
});

interface Row {
  readonly name: string;
  readonly status: object;
  readonly want: readonly [reason: string, message: string] | undefined;
}

describe("what a pod says", () => {
  test.each<Row>([
    {
      name: "whose image cannot be pulled",
      status: { phase: "Pending", containerStatuses: [waiting("ErrImagePull", "rpc error: 42 s")] },
      want: ["ImagePullBackOff", `Pod web-1: the image ${image} of container main cannot be pulled.`],
    },
    {
      name: "whose image cannot be pulled, later",
      status: { phase: "Pending", containerStatuses: [waiting("ImagePullBackOff", "back-off 5m0s")] },
      want: ["ImagePullBackOff", `Pod web-1: the image ${image} of container main cannot be pulled.`],
    },
    {
      name: "whose init container has a bad image name",
      status: { phase: "Pending", initContainerStatuses: [waiting("InvalidImageName")] },
      want: ["InvalidImageName", `Pod web-1: the image ${image} of container main cannot be pulled.`],
    },
    {
      name: "that lacks a Secret",
      status: { containerStatuses: [waiting("CreateContainerConfigError", 'secret "db" not found')] },
      want: [
        "CreateContainerConfigError",
        'Pod web-1: container main cannot be started: secret "db" not found.',
      ],
    },
    {
      name: "that crashes",
      status: {
        phase: "Running",
        containerStatuses: [{ ...waiting("CrashLoopBackOff"), restartCount: 4, lastState: ended(3) }],
      },
      want: ["CrashLoopBackOff", "Pod web-1: container main exited with code 3; check its logs."],
    },
    {
      name: "that runs again after a crash and is not ready",
      status: {
        phase: "Running",
        containerStatuses: [
          { name: "main", image, restartCount: 4, state: { running: {} }, lastState: ended(3) },
        ],
      },
      want: ["CrashLoopBackOff", "Pod web-1: container main exited with code 3; check its logs."],
    },
    {
      name: "that is ready again after a crash",
      status: {
        phase: "Running",
        containerStatuses: [
          { name: "main", image, ready: true, restartCount: 1, state: {}, lastState: ended(3) },
        ],
      },
      want: undefined,
    },
    {
      name: "that needs too much memory",
      status: { containerStatuses: [{ name: "main", image, state: ended(137, "OOMKilled") }] },
      want: [
        "ContainerFailed",
        "Pod web-1: container main ran out of memory and was killed (exit code 137); check its logs.",
      ],
    },
    {
      name: "whose init container has completed",
      status: {
        phase: "Pending",
        initContainerStatuses: [{ name: "init", image, state: ended(0, "Completed") }],
      },
      want: undefined,
    },
    {
      name: "that was evicted",
      status: { phase: "Failed", reason: "Evicted", message: "The node was low on memory." },
      want: ["PodFailed", "Pod web-1 has failed: The node was low on memory."],
    },
    {
      name: "that fits on no node",
      status: {
        phase: "Pending",
        conditions: [
          {
            type: "PodScheduled",
            status: "False",
            reason: "Unschedulable",
            message: "0/3 nodes are available.",
          },
        ],
      },
      want: ["Unschedulable", "Pod web-1 cannot be scheduled: 0/3 nodes are available."],
    },
    {
      name: "whose probe does not pass",
      status: {
        phase: "Running",
        conditions: [{ type: "Ready", status: "False" }],
        containerStatuses: [{ name: "main", image, ready: false, state: { running: {} } }],
      },
      want: ["NotReady", "Pod web-1: container main is running but not ready."],
    },
    { name: "that has just been made", status: { phase: "Pending" }, want: undefined },
  ])("$name", ({ status, want }) => {
    const trouble = podTroubleOf([ready, aPod("web-1", status)]);
    expect(trouble === undefined ? undefined : [trouble.reason, trouble.message]).toEqual(want);
  });

  test("that is being deleted does not count", () => {
    const status = { containerStatuses: [waiting("ErrImagePull")] };
    expect(
      podTroubleOf([aPod("web-1", status, { deletionTimestamp: "2026-01-01T00:00:00Z" })]),
    ).toBeUndefined();
  });

  test("what another client has to mend comes first, then the first name", () => {
    const crash = { containerStatuses: [{ ...waiting("CrashLoopBackOff"), lastState: ended(1) }] };
    const pull = { containerStatuses: [waiting("ErrImagePull")] };
    const pods = [aPod("a", crash), aPod("c", pull), aPod("b", pull)];
    expect(podTroubleOf(pods)?.message).toContain("Pod b: the image");
  });
});

describe("a workload", () => {
  const podTrouble = { reason: "ImagePullBackOff", message: "Pod web-1: the image x cannot be pulled." };
  const facts = { readiness: { mode: "Default" }, stateAgeMs: 0, podTrouble } as const;
  const judge = (status: object, more: object = facts): readonly [string, string, string] => {
    const object = {
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata: { name: "web" },
      spec: { replicas: 1 },
      status,
    };
    const { state, reason, message } = healthOf(object, { ...facts, ...more });
    return [state, reason, message];
  };
  const rolling = {
    replicas: 2,
    updatedReplicas: 1,
    availableReplicas: 1,
    readyReplicas: 1,
    unavailableReplicas: 1,
  };
  const quota = { type: "ReplicaFailure", status: "True", message: "exceeded quota: q" };
  const late = {
    type: "Progressing",
    status: "False",
    reason: "ProgressDeadlineExceeded",
    message: "timed out",
  };

  test("in a rollout that does not continue names the pod's own cause", () => {
    expect(judge(rolling)).toEqual([
      "InProgress",
      "ImagePullBackOff",
      "Pod web-1: the image x cannot be pulled. 1 of 2 replicas available; old replicas that stay until new ones are available: 1.",
    ]);
  });

  test("whose pods cannot be read says what it knows itself", () => {
    expect(judge(rolling, { podTrouble: undefined })).toEqual([
      "InProgress",
      "ReplicasMissing",
      "1 of 2 replicas available; old replicas that stay until new ones are available: 1.",
    ]);
    expect(
      judge({ ...rolling, availableReplicas: 2, unavailableReplicas: 0 }, { podTrouble: undefined })[2],
    ).toBe("Old replicas still terminating: 1.");
  });

  test("whose pods are refused says why, also when its time is over", () => {
    expect(judge({ conditions: [quota] })).toEqual(["InProgress", "ReplicaFailure", "exceeded quota: q"]);
    expect(judge({ conditions: [late, quota] }, { podTrouble: undefined })).toEqual([
      "Failed",
      "ProgressDeadlineExceeded",
      "exceeded quota: q",
    ]);
  });

  test("that has failed stays failed, with the pod's own cause", () => {
    expect(judge({ conditions: [late] })).toEqual([
      "Failed",
      "ImagePullBackOff",
      "Pod web-1: the image x cannot be pulled. timed out",
    ]);
  });

  test("shows no control characters of a pod", () => {
    const hostile = { reason: "ContainerFailed", message: "Pod \u001B[2Jx:\nfailed." };
    expect(judge(rolling, { podTrouble: hostile })[2]).toMatch(/^Pod \[2Jx: failed\. 1 of 2/);
  });

  test("that is ready says nothing of its pods", () => {
    const status = {
      replicas: 1,
      updatedReplicas: 1,
      availableReplicas: 1,
      readyReplicas: 1,
      conditions: [{ type: "Available", status: "True" }],
    };
    expect(judge(status)[0]).toBe("Ready");
  });
});
