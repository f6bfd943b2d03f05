import { expect, test } from "vitest";

import { parsePodTarget } from "../../src/nodes/relay-endpoint.ts";

test.for([
  { given: "10.244.1.7:9200", want: { host: "10.244.1.7", port: 9200 } },
  { given: "10.96.0.10:53", want: { host: "10.96.0.10", port: 53 } },
])("$given is a pod or a Service", ({ given, want }) => {
  expect(parsePodTarget(given)).toEqual(want);
});

test.for([
  "127.0.0.1:22",
  "172.30.0.1:6443",
  "10.244.1.7",
  "10.244.1.7:0",
  "10.244.1.7:70000",
  "10.244.1.999:1",
  "pod:80",
  "",
])("%j is no target", (given) => {
  expect(parsePodTarget(given)).toBeUndefined();
});
