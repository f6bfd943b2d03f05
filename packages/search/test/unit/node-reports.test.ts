import { describe, expect, test } from "vitest";

import { lostVoters } from "../../src/repair/quorum-lost.ts";
import { nodeReports, operatedNode } from "../../src/report/node-reports.ts";
import type { ClusterStatus, Seen } from "../../src/seen.ts";
import { aRoll, managersAndData, type RollChanges } from "../support/a-roll.ts";
import { engineFacts } from "../support/a-seen.ts";

type Rows = NonNullable<ClusterStatus["nodes"]>;

const managers = ["logs-managers-0", "logs-managers-1", "logs-managers-2", "logs-managers-3"];
const late = "logs-managers-1";

/** Of `count` managers, after the rows before. */
function rowsOf(count: number, changes: RollChanges, before: Rows = []): Rows {
  return nodeReports(...given(count, changes, before));
}

function given(count: number, changes: RollChanges, before: Rows): [Seen, ReturnType<typeof operatedNode>] {
  const cluster = managersAndData(count, 1);
  const seen = aRoll({ cluster, ...changes, status: { nodes: [...before], ...changes.status } });
  return [seen, operatedNode(seen, [])];
}

function onNewDisk(seen: Seen, ...nodes: readonly string[]): Seen {
  return {
    ...seen,
    volumes: seen.volumes.map((volume) =>
      nodes.includes(volume.node) ? { ...volume, uid: `new-${volume.node}` } : volume,
    ),
  };
}

function rowOf(rows: Rows, name: string): Rows[number] | undefined {
  return rows.find((row) => row.name === name);
}

describe("who votes, and on which disk", () => {
  test.each([2, 3, 4])(
    "one of %i managers is away, and the engine has an id in its place: it votes, on the disk that it had",
    (count) => {
      const before = rowsOf(count, { voters: managers.slice(0, count) });
      const voters = managers.slice(0, count).map((name) => (name === late ? "some-id" : name));
      const [seen, away] = given(count, { down: [late], voters }, before);
      const rows = nodeReports(onNewDisk(seen, late), away);
      expect(rowOf(rows, late)).toMatchObject({
        member: false,
        voter: true,
        elected: false,
        pvcUid: `pvc-${late}`,
      });
      expect(rows.filter(({ voter }) => voter === true)).toHaveLength(count);
    },
  );

  test("[faults/36] the disks of two of three are lost one after the other: both are known to be lost", () => {
    const first = rowsOf(3, { voters: managers.slice(0, 3) });
    const voters = ["logs-managers-0", "some-id", "logs-managers-2"];
    const [seen, away] = given(3, { down: [late], voters }, first);
    const second = nodeReports(onNewDisk(seen, late), away);
    const [silent, none] = given(3, { engine: engineFacts() }, second);
    const lost = onNewDisk(silent, late, "logs-managers-2");
    const third = nodeReports(lost, none);
    expect(lostVoters({ ...lost, status: { nodes: [...third] } })).toEqual({
      voters: managers.slice(0, 3),
      lost: [late, "logs-managers-2"],
    });
  });

  test.each([
    { name: "its vote was taken away while it is down", voters: ["logs-managers-0"] },
    { name: "others voted, and it did not", voters: ["logs-managers-0", "some-id"], isVoter: false },
  ])("$name: it does not vote", ({ voters, isVoter = true }) => {
    const before = rowsOf(3, {
      voters: isVoter ? managers.slice(0, 3) : ["logs-managers-0", "logs-managers-2"],
    });
    const rows = rowsOf(3, { down: [late], voters }, before);
    expect(rowOf(rows, late)).toMatchObject({ member: false, voter: false });
  });

  test("a member with another disk votes on that", () => {
    const before = rowsOf(3, { voters: managers.slice(0, 3) });
    const [seen, away] = given(3, { voters: managers.slice(0, 3) }, before);
    expect(rowOf(nodeReports(onNewDisk(seen, late), away), late)).toMatchObject({
      voter: true,
      pvcUid: `new-${late}`,
    });
  });

  test("as long as the engine does not say, everything is as it was", () => {
    const before = rowsOf(3, { voters: managers.slice(0, 3) });
    const [seen, away] = given(3, { engine: engineFacts() }, before);
    expect(nodeReports(onNewDisk(seen, late), away)).toEqual(before);
  });
});
