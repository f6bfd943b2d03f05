import { describe, expect, test } from "vitest";

import { type Health, type HealthFacts, healthOf } from "../../src/index.ts";

interface Row {
  readonly name: string;
  readonly kind: string;
  readonly object?: object;
  readonly facts?: Partial<HealthFacts>;
  readonly want: Partial<Health>;
}

function judge({ kind, object = {}, facts = {} }: Row): Health {
  const [apiVersion = "", name = ""] = kind.split(" ");
  const whole = { apiVersion, kind: name, metadata: { name: "shop", namespace: "default" }, ...object };
  return healthOf(whole, { readiness: { mode: "Default" }, stateAgeMs: 0, ...facts });
}

const condition = (type: string, status: string, reason = ""): object => ({
  status: { conditions: [{ type, status, reason }] },
});
const waiting = (phase: string, reason: string): object => ({
  status: {
    phase,
    containerStatuses: [{ name: "main", state: { waiting: { reason, message: "Back-off 40s" } } }],
  },
});
const unschedulable = {
  status: {
    phase: "Pending",
    conditions: [
      { type: "PodScheduled", status: "False", reason: "Unschedulable", message: "0/3 nodes\nfit" },
    ],
  },
};

describe("a Job", () => {
  const kind = "batch/v1 Job";
  test.each<Row>([
    { name: "complete", kind, object: condition("Complete", "True"), want: { state: "Ready" } },
    {
      name: "failed",
      kind,
      object: condition("Failed", "True", "BackoffLimitExceeded"),
      want: { state: "Failed", reason: "BackoffLimitExceeded" },
    },
    {
      name: "failed without a reason",
      kind,
      object: condition("Failed", "True"),
      want: { state: "Failed", reason: "JobFailed" },
    },
    { name: "suspended", kind, object: { spec: { suspend: true } }, want: { state: "Suspended" } },
    { name: "not started", kind, want: { state: "InProgress", reason: "NotStarted" } },
    {
      name: "running is not ready",
      kind,
      object: { status: { startTime: "2026-01-01T00:00:00Z" } },
      want: { state: "InProgress", reason: "Running" },
    },
  ])("$name", (row) => {
    expect(judge(row)).toMatchObject(row.want);
  });
});

describe("a Pod", () => {
  const kind = "v1 Pod";
  test.each<Row>([
    { name: "succeeded", kind, object: { status: { phase: "Succeeded" } }, want: { state: "Ready" } },
    {
      name: "failed, told why",
      kind,
      object: { status: { phase: "Failed", message: "evicted" } },
      want: { state: "Failed", message: "evicted" },
    },
    {
      name: "failed by a container",
      kind,
      object: {
        status: {
          phase: "Failed",
          containerStatuses: [
            { name: "side", state: { terminated: { exitCode: 0 } } },
            { name: "main", state: { terminated: { exitCode: 3 } } },
          ],
        },
      },
      want: { state: "Failed", message: "Container main exited with code 3." },
    },
    {
      name: "failed without a word",
      kind,
      object: { status: { phase: "Failed" } },
      want: { state: "Failed", message: "The pod has failed." },
    },
    {
      name: "running and ready",
      kind,
      object: { status: { phase: "Running", conditions: [{ type: "Ready", status: "True" }] } },
      want: { state: "Ready" },
    },
    {
      name: "running, not ready",
      kind,
      object: { status: { phase: "Running" } },
      want: { state: "InProgress", reason: "NotReady" },
    },
    {
      name: "crashing, without the kubelet's seconds",
      kind,
      object: waiting("Running", "CrashLoopBackOff"),
      want: { state: "Failed", message: "Container main keeps crashing; check its logs." },
    },
    {
      name: "image not pulled yet",
      kind,
      object: waiting("Pending", "ImagePullBackOff"),
      facts: { stateAgeMs: 59_000 },
      want: { state: "InProgress", recheckAfterMs: 1_000 },
    },
    {
      name: "image not to be had",
      kind,
      object: waiting("Pending", "ErrImagePull"),
      facts: { stateAgeMs: 60_000 },
      want: { state: "Failed", reason: "ErrImagePull" },
    },
    {
      name: "fits nowhere yet",
      kind,
      object: unschedulable,
      facts: { stateAgeMs: 5_000 },
      want: { state: "InProgress", recheckAfterMs: 10_000, message: "0/3 nodes fit" },
    },
    {
      name: "fits nowhere",
      kind,
      object: unschedulable,
      facts: { stateAgeMs: 15_000 },
      want: { state: "Failed", reason: "Unschedulable" },
    },
    {
      name: "pending",
      kind,
      object: { status: { phase: "Pending" } },
      want: { state: "InProgress", reason: "Pending" },
    },
    { name: "without a phase", kind, want: { state: "InProgress", reason: "Pending" } },
  ])("$name", (row) => {
    expect(judge(row)).toMatchObject(row.want);
  });
});

describe("a claim, a Service, an Ingress", () => {
  const claim = "v1 PersistentVolumeClaim";
  const pending = { spec: { storageClassName: "local" }, status: { phase: "Pending" } };
  const late: Partial<HealthFacts> = { isWaitForFirstConsumer: (name) => name === "local" };
  const requested: Partial<HealthFacts> = { readiness: { mode: "LoadBalancer" } };
  const balancer = { type: "LoadBalancer", clusterIP: "10.0.0.1" };
  const address = { loadBalancer: { ingress: [{}] } };
  test.each<Row>([
    { name: "claim bound", kind: claim, object: { status: { phase: "Bound" } }, want: { state: "Ready" } },
    { name: "claim lost", kind: claim, object: { status: { phase: "Lost" } }, want: { state: "Failed" } },
    { name: "claim pending", kind: claim, object: pending, want: { state: "InProgress" } },
    { name: "claim that binds late", kind: claim, object: pending, facts: late, want: { state: "Ready" } },
    {
      name: "claim of another class",
      kind: claim,
      object: { status: { phase: "Pending" } },
      facts: late,
      want: { state: "InProgress" },
    },
    {
      name: "service with an IP",
      kind: "v1 Service",
      object: { spec: { clusterIP: "10.0.0.1" } },
      want: { state: "Ready" },
    },
    {
      name: "headless service",
      kind: "v1 Service",
      object: { spec: { clusterIP: "None" } },
      want: { state: "Ready" },
    },
    {
      name: "service without an IP",
      kind: "v1 Service",
      object: { spec: {} },
      want: { state: "InProgress", reason: "NoClusterIP" },
    },
    {
      name: "external name",
      kind: "v1 Service",
      object: { spec: { type: "ExternalName" } },
      want: { state: "Ready" },
    },
    {
      name: "balancer not requested",
      kind: "v1 Service",
      object: { spec: balancer },
      want: { state: "Ready" },
    },
    {
      name: "balancer requested",
      kind: "v1 Service",
      object: { spec: balancer },
      facts: requested,
      want: { state: "InProgress", reason: "NoLoadBalancer" },
    },
    {
      name: "balancer there",
      kind: "v1 Service",
      object: { spec: balancer, status: address },
      facts: requested,
      want: { state: "Ready" },
    },
    {
      name: "cluster IP, balancer requested",
      kind: "v1 Service",
      object: { spec: { clusterIP: "10.0.0.1" } },
      facts: requested,
      want: { state: "Ready" },
    },
    { name: "ingress", kind: "networking.k8s.io/v1 Ingress", want: { state: "Ready" } },
    {
      name: "ingress, balancer requested",
      kind: "networking.k8s.io/v1 Ingress",
      facts: requested,
      want: { state: "InProgress" },
    },
    {
      name: "ingress, balancer there",
      kind: "networking.k8s.io/v1 Ingress",
      object: { status: address },
      facts: requested,
      want: { state: "Ready" },
    },
    {
      name: "a Service of another group",
      kind: "serving.knative.dev/v1 Service",
      want: { state: "Ready" },
    },
  ])("$name", (row) => {
    expect(judge(row)).toMatchObject(row.want);
  });
});

describe("kinds of the API machinery", () => {
  const crd = "apiextensions.k8s.io/v1 CustomResourceDefinition";
  const api = "apiregistration.k8s.io/v1 APIService";
  const hooks = "admissionregistration.k8s.io/v1 MutatingWebhookConfiguration";
  const names = (status: string): object => ({ type: "NamesAccepted", status });
  const served = (status: string, reason = ""): object => ({ type: "Established", status, reason });
  const withConditions = (...conditions: readonly object[]): object => ({ status: { conditions } });
  const webhooks = {
    webhooks: [
      { clientConfig: { url: "https://x" } },
      { clientConfig: { service: { namespace: "a", name: "b" } } },
    ],
  };
  test.each<Row>([
    {
      name: "established",
      kind: crd,
      object: withConditions(names("True"), served("True")),
      want: { state: "Ready" },
    },
    {
      name: "names taken",
      kind: crd,
      object: withConditions(names("False"), served("True")),
      want: { state: "Failed", reason: "NamesNotAccepted" },
    },
    {
      name: "not established",
      kind: crd,
      object: withConditions(names("True"), served("False", "NotAccepted")),
      want: { state: "Failed", reason: "NotEstablished" },
    },
    {
      name: "installing",
      kind: crd,
      object: withConditions(names("True"), served("False", "Installing")),
      want: { state: "InProgress" },
    },
    {
      name: "established, names not yet judged",
      kind: crd,
      object: withConditions(served("True")),
      want: { state: "InProgress" },
    },
    {
      name: "definition on its way out",
      kind: crd,
      object: withConditions({ type: "Terminating", status: "True" }),
      want: { state: "Terminating" },
    },
    { name: "API available", kind: api, object: condition("Available", "True"), want: { state: "Ready" } },
    {
      name: "API without endpoints",
      kind: api,
      object: condition("Available", "False", "MissingEndpoints"),
      want: { state: "InProgress", reason: "MissingEndpoints" },
    },
    { name: "API no one tried", kind: api, want: { state: "InProgress", reason: "NotAvailable" } },
    {
      name: "webhook whose Service is dead",
      kind: hooks,
      object: webhooks,
      facts: { hasEndpoints: () => false },
      want: { state: "InProgress", reason: "NoEndpoints" },
    },
    {
      name: "webhook whose Service lives",
      kind: hooks,
      object: webhooks,
      facts: { hasEndpoints: () => true },
      want: { state: "Ready" },
    },
    {
      name: "webhook of a Service of others",
      kind: hooks,
      object: webhooks,
      facts: { hasEndpoints: () => undefined },
      want: { state: "Ready" },
    },
    {
      name: "namespace active",
      kind: "v1 Namespace",
      object: { status: { phase: "Active" } },
      want: { state: "Ready" },
    },
    {
      name: "namespace going",
      kind: "v1 Namespace",
      object: { status: { phase: "Terminating" } },
      want: { state: "Terminating" },
    },
    { name: "namespace new", kind: "v1 Namespace", want: { state: "InProgress" } },
  ])("$name", (row) => {
    expect(judge(row)).toMatchObject(row.want);
  });
});

describe("a plan among the objects of a plan", () => {
  const kind = "install.quartermaster.dev/v1alpha1 InstallPlan";
  const paused = condition("Ready", "False", "Paused");
  const replaced = {
    status: {
      conditions: [
        { type: "Ready", status: "False", reason: "Superseded" },
        { type: "Superseded", status: "True", reason: "Superseded" },
      ],
    },
  };
  test.each<Row>([
    { name: "installed", kind, object: condition("Ready", "True"), want: { state: "Ready" } },
    { name: "replaced", kind, object: replaced, want: { state: "Ready" } },
    { name: "paused", kind, object: paused, want: { state: "Suspended" } },
    {
      name: "degraded",
      kind,
      object: condition("Ready", "False", "Missing"),
      want: { state: "InProgress", reason: "Missing" },
    },
    { name: "not observed", kind, want: { state: "InProgress", reason: "NotObserved" } },
  ])("$name", (row) => {
    expect(judge(row)).toMatchObject(row.want);
  });
});

describe("autoscalers and kinds at rest", () => {
  const hpa = "autoscaling/v2 HorizontalPodAutoscaler";
  const noMetrics = condition("ScalingActive", "False", "FailedGetResourceMetric");
  const annotated = (text: string): object => ({
    metadata: { name: "shop", annotations: { "autoscaling.alpha.kubernetes.io/conditions": text } },
  });
  test.each<Row>([
    {
      name: "able to scale",
      kind: hpa,
      object: condition("AbleToScale", "True", "ReadyForNewScale"),
      want: { state: "Ready" },
    },
    {
      name: "not able yet",
      kind: hpa,
      object: condition("AbleToScale", "False"),
      want: { state: "InProgress" },
    },
    {
      name: "no metrics yet",
      kind: hpa,
      object: noMetrics,
      facts: { stateAgeMs: 20_000 },
      want: { state: "InProgress", recheckAfterMs: 100_000 },
    },
    {
      name: "no metrics",
      kind: hpa,
      object: noMetrics,
      facts: { stateAgeMs: 120_000 },
      want: { state: "Failed", reason: "FailedGetResourceMetric" },
    },
    {
      name: "conditions in an annotation",
      kind: "autoscaling/v1 HorizontalPodAutoscaler",
      object: annotated('[{"type":"AbleToScale","status":"True"}]'),
      want: { state: "Ready" },
    },
    {
      name: "annotation that is no JSON",
      kind: "autoscaling/v1 HorizontalPodAutoscaler",
      object: annotated("{"),
      want: { state: "InProgress" },
    },
    {
      name: "ConfigMap",
      kind: "v1 ConfigMap",
      object: condition("Ready", "False"),
      want: { state: "Ready" },
    },
    { name: "Secret", kind: "v1 Secret", want: { state: "Ready" } },
    { name: "CronJob", kind: "batch/v1 CronJob", want: { state: "Ready" } },
    {
      name: "PodDisruptionBudget",
      kind: "policy/v1 PodDisruptionBudget",
      object: condition("DisruptionAllowed", "False"),
      want: { state: "Ready" },
    },
  ])("$name", (row) => {
    expect(judge(row)).toMatchObject(row.want);
  });
});
