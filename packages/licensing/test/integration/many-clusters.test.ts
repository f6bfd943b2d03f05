import { licenseAssociation } from "@quartermaster/api/licensing";
import { eventually } from "@quartermaster/testkit";
import { expect, test } from "vitest";

import { setUpBench } from "../support/license-bench.ts";

const clusterCount = process.env["QM_CAMPAIGN"] === "1" ? 500 : 100;

test("[licensing/R2] a license is added to 100 clusters here, 500 in the campaign: each is reconciled once, and nothing is written where the license stays", async () => {
  await using bench = await setUpBench({ isOperating: false });
  await bench.createLicense("shared", { uid: "p1", daysLeft: 300 });
  const names = Array.from({ length: clusterCount }, (_, at) => `c${String(at)}`);
  for (let at = 0; at < names.length; at += 25)
    await Promise.all(names.slice(at, at + 25).map(async (name) => await bench.createCluster(name)));
  let reconciles = 0;
  await bench.operate({
    telemetry: {
      reconcileFinished: ({ controller }) => {
        if (controller === "license-bindings") reconciles += 1;
      },
    },
  });
  await eventually(
    async (see) => {
      const { items } = await bench.client.listPage(licenseAssociation.kind, { namespace: bench.team });
      const pending = items.filter(({ status }) => status?.state === "Pending");
      return see(pending.length) === clusterCount || undefined;
    },
    { withinMs: 120_000 },
  );
  // Events of our own last writes may still be on their way: their reconciles belong to the creation.
  let before = -1;
  await eventually(
    () => {
      const isQuiet = before === reconciles;
      before = reconciles;
      return isQuiet || undefined;
    },
    { everyMs: 1000 },
  );
  const position = await bench.cluster.audit.position();
  reconciles = 0;
  await bench.createEnterprise("e", [{ uid: "p2", daysLeft: 200 }]);
  await eventually((see) => see(reconciles) >= clusterCount || undefined);
  await bench.enterprise("e", ({ status }) => status?.state === "Valid");
  expect(reconciles).toBe(clusterCount);
  const writes = await bench.writes(position);
  expect(writes.map(({ resource, name }) => `${resource} ${name ?? ""}`)).toEqual(["enterpriselicenses e"]);
}, 240_000);
