import { describe, expect, test } from "vitest";

import { decideBootstrap } from "../../src/formation/decide-bootstrap.ts";
import type { VolumeFacts } from "../../src/formation/volume-facts.ts";
import { aVolume } from "../support/a-seen.ts";

const managers = ["c-m-0", "c-m-1", "c-m-2"];

const old = { engineUuid: "OLD", managers: 3 };
const dataOnly = { holdsManager: false, engineUuid: "OLD" };

describe("how a cluster starts", () => {
  test.for<[string, readonly VolumeFacts[], string | undefined, object]>([
    ["nothing is there", [], undefined, { mode: "Found" }],
    [
      "every manager's volume is there",
      managers.map((node) => aVolume(node, old)),
      undefined,
      { mode: "Recover", mayFound: false },
    ],
    [
      "a majority of them",
      managers.slice(0, 2).map((node) => aVolume(node, old)),
      undefined,
      { mode: "Recover", mayFound: false },
    ],
    [
      "[search/SC-17] one of three",
      [aVolume("c-m-0", old)],
      undefined,
      { mode: "Refuse", reason: "QuorumVolumesMissing" },
    ],
    ["one of three, given up", [aVolume("c-m-0", old)], "OLD", { mode: "Found", acceptedNewCluster: "OLD" }],
    [
      "one of three, another one given up",
      [aVolume("c-m-0", old)],
      "OTHER",
      { mode: "Refuse", reason: "QuorumVolumesMissing" },
    ],
    [
      "[search/SC-18] only data",
      [aVolume("c-d-0", dataOnly)],
      undefined,
      { mode: "Refuse", reason: "DataFromAnotherCluster" },
    ],
    [
      "[search/SC-18] only data, given up",
      [aVolume("c-d-0", dataOnly)],
      "OLD",
      { mode: "Found", acceptedNewCluster: "OLD" },
    ],
    [
      "two clusters",
      [aVolume("c-m-0", old), aVolume("c-m-1", old), aVolume("c-m-2", { engineUuid: "NEW", managers: 3 })],
      undefined,
      { mode: "Refuse", reason: "DataFromAnotherCluster" },
    ],
    [
      "volumes of five managers, three are declared and there",
      managers.map((node) => aVolume(node, { engineUuid: "OLD", managers: 5 })),
      undefined,
      { mode: "Recover", mayFound: false },
    ],
    [
      "volumes of five managers, two of the declared are there",
      managers.slice(0, 2).map((node) => aVolume(node, { engineUuid: "OLD", managers: 5 })),
      undefined,
      { mode: "Refuse", reason: "QuorumVolumesMissing" },
    ],
    [
      "volumes of five managers, three are there, one of them declared",
      ["c-m-0", "c-m-3", "c-m-4"].map((node) => aVolume(node, { engineUuid: "OLD", managers: 5 })),
      undefined,
      { mode: "Refuse", reason: "QuorumVolumesMissing" },
    ],
    [
      "volumes that were marked with three and with five managers: five count",
      [
        ...managers.slice(0, 1).map((node) => aVolume(node, old)),
        aVolume("c-m-1", { engineUuid: "OLD", managers: 5 }),
      ],
      undefined,
      { mode: "Refuse", reason: "QuorumVolumesMissing" },
    ],
    [
      "the volumes of managers are blank, and one with data is marked: nothing is founded beside it",
      [...managers.map((node) => aVolume(node)), aVolume("c-d-0", dataOnly)],
      undefined,
      { mode: "Recover", mayFound: false },
    ],
    [
      "as many blank volumes as managers, one of another node",
      ["c-m-0", "c-m-1", "c-x-0"].map((node) => aVolume(node)),
      undefined,
      { mode: "Recover", mayFound: false },
    ],
    [
      "a start that was cut short",
      managers.map((node) => aVolume(node)),
      undefined,
      { mode: "Recover", mayFound: true },
    ],
    [
      "a start that was cut short, one volume is gone",
      managers.slice(0, 2).map((node) => aVolume(node)),
      undefined,
      { mode: "Recover", mayFound: false },
    ],
    [
      "a start that was cut short, with more managers than are declared now",
      [...managers, "c-m-3"].map((node) => aVolume(node)),
      undefined,
      { mode: "Recover", mayFound: false },
    ],
    [
      "one is marked: the cluster had formed",
      [aVolume("c-m-0", old), aVolume("c-m-1"), aVolume("c-m-2")],
      undefined,
      { mode: "Recover", mayFound: false },
    ],
    [
      "unmarked and given up",
      [aVolume("c-m-0")],
      "unknown",
      { mode: "Found", acceptedNewCluster: "unknown" },
    ],
  ])("%s", ([, volumes, acceptNewCluster, expected]) => {
    expect(decideBootstrap({ managers, volumes, acceptNewCluster })).toMatchObject(expected);
  });

  test.each([
    [1, 1, "Recover"],
    [2, 1, "Refuse"],
    [2, 2, "Recover"],
    [3, 1, "Refuse"],
    [3, 2, "Recover"],
    [4, 2, "Refuse"],
    [4, 3, "Recover"],
    [5, 2, "Refuse"],
    [5, 3, "Recover"],
  ])("of %i managers %i volumes are there: %s", (count, present, mode) => {
    const declared = Array.from({ length: count }, (_, at) => `c-m-${String(at)}`);
    const volumes = declared
      .slice(0, present)
      .map((node) => aVolume(node, { engineUuid: "OLD", managers: count }));
    expect(decideBootstrap({ managers: declared, volumes, acceptNewCluster: undefined }).mode).toBe(mode);
    // Without marks, what is declared says how many there were.
    const blank = declared.slice(0, present).map((node) => aVolume(node));
    expect(decideBootstrap({ managers: declared, volumes: blank, acceptNewCluster: undefined }).mode).toBe(
      mode,
    );
  });

  test("a refusal names the volumes, the annotation and its value", () => {
    const decision = decideBootstrap({
      managers,
      volumes: [aVolume("c-m-0", old)],
      acceptNewCluster: undefined,
    });
    expect(decision).toMatchObject({
      message: expect.stringMatching(/data-c-m-0.*accept-new-cluster to OLD/s) as string,
    });
  });
});
