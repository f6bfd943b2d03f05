import { persistentVolumeClaims, secrets } from "@quartermaster/runtime/kinds";
import { expect, test } from "vitest";

import { type KeptObject, protectionLane } from "../../src/deletion/protection-lane.ts";
import { decideLane } from "../../src/lane.ts";
import { aSearchCluster } from "../a-search-cluster.ts";
import { aSeen } from "../support/a-seen.ts";

const claim = (isProtected: boolean, isTerminating = false): KeptObject => ({
  kind: persistentVolumeClaims,
  name: "data-logs-nodes-0",
  uid: "1",
  resourceVersion: "1",
  isTerminating,
  isProtected,
});
const password: KeptObject = { ...claim(false), kind: secrets, name: "logs-admin-password", uid: "2" };

test.for<[string, boolean, readonly KeptObject[], readonly string[]]>([
  ["not protected, not declared", false, [claim(false)], []],
  [
    "declared: each object gets it",
    true,
    [claim(false), password],
    ["data-logs-nodes-0 true", "logs-admin-password true"],
  ],
  ["declared and protected", true, [claim(true)], []],
  ["no longer declared", false, [claim(true), password], ["data-logs-nodes-0 false"]],
  ["being deleted already: nothing brings it back", true, [claim(false, true)], []],
])("[security/107] protection of claims and Secrets: %s", ([, isDeletionProtected, kept, want]) => {
  const cluster = aSearchCluster({ isDeletionProtected });
  const { actions, outcome } = decideLane(protectionLane, aSeen({ cluster, kept }), new Date(0));
  expect(outcome.kind).toBe("settled");
  expect(
    actions.map((action) =>
      action.kind === "protect" ? `${action.name} ${String(action.isProtected)}` : "",
    ),
  ).toEqual(want);
});
