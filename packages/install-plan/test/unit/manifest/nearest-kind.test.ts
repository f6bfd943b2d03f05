import { expect, test } from "vitest";

import { nearestKind } from "../../../src/manifest/nearest-kind.ts";

const served = [
  ["apps/v1", "Deployment"],
  ["apps/v1", "DaemonSet"],
  ["v1", "ConfigMap"],
  ["v1", "Event"],
  ["events.k8s.io/v1", "Event"],
  ["networking.k8s.io/v1", "Ingress"],
  ["example.com/v2", "Widget"],
  ["example.com/v1", "Widget"],
  ["other.org/v1", "Widget"],
].map(([apiVersion = "", kind = ""]) => ({ apiVersion, kind }));

test.each([
  { name: "an old version", given: ["apps/v1beta1", "Deployment"], want: "apps/v1" },
  { name: "an old group", given: ["extensions/v1beta1", "Ingress"], want: "networking.k8s.io/v1" },
  { name: "a missing group", given: ["v1", "Deployment"], want: "apps/v1" },
  { name: "a group with a slip", given: ["app/v1", "Deployment"], want: "apps/v1" },
  { name: "the own group before others", given: ["example.com/v1beta1", "Widget"], want: "example.com/v1" },
  { name: "a group with a slip before others", given: ["exampl.com/v2", "Widget"], want: "example.com/v1" },
  { name: "a kind with a slip", given: ["apps/v1", "Deploymnet"], want: "Deployment" },
  { name: "a kind in lower case", given: ["v1", "configmap"], want: "ConfigMap" },
  { name: "both wrong", given: ["apps/v2", "deployment"], want: "Deployment of apps/v1" },
  { name: "nothing near", given: ["nowhere.io/v1", "Gadget"], want: undefined },
])("$name: $want", ({ given: [apiVersion = "", kind = ""], want }) => {
  expect(nearestKind({ apiVersion, kind }, served)).toBe(want);
});
