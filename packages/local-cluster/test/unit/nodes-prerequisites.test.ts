import { describe, expect, test } from "vitest";

import {
  describeMissing,
  type MachineFacts,
  missingPrerequisites,
  packagesOf,
} from "../../src/nodes/prerequisites.ts";

const complete: MachineFacts = {
  isRoot: true,
  missingTools: [],
  cniPluginDirectory: "/usr/lib/cni",
  hasStaticBusybox: true,
  missingFeatures: [],
};

describe("what a machine lacks for real nodes", () => {
  const cases: readonly { name: string; given: Partial<MachineFacts>; want: readonly string[] }[] = [
    { name: "nothing where everything is there", given: {}, want: [] },
    { name: "[local-cluster/LC-25] root for another user", given: { isRoot: false }, want: ["root"] },
    {
      name: "[local-cluster/LC-25] containerd where it is not installed",
      given: { missingTools: ["ctr", "containerd"] },
      want: ["containerd", "ctr"],
    },
    {
      name: "CNI plugins where no directory has them all",
      given: { cniPluginDirectory: undefined },
      want: ["CNI plugins"],
    },
    { name: "a static busybox", given: { hasStaticBusybox: false }, want: ["a static busybox"] },
    {
      name: "what the kernel refused",
      given: { missingFeatures: ["veth", "overlay"] },
      want: ["overlay file systems", "veth links"],
    },
    {
      name: "rights before tools before the kernel",
      given: { isRoot: false, missingTools: ["runc"], missingFeatures: ["nftables"] },
      want: ["root", "runc", "nftables"],
    },
  ];

  test.each(cases)("$name", ({ given, want }) => {
    expect(missingPrerequisites({ ...complete, ...given }).map(({ what }) => what)).toEqual(want);
  });
});

describe("the message about what is missing", () => {
  test("[local-cluster/LC-25] names all of it, the remedies and the profile that is used instead", () => {
    const missing = missingPrerequisites({
      ...complete,
      isRoot: false,
      missingTools: ["containerd", "ctr", "ip"],
    });
    expect(describeMissing(missing)).toBe(
      "Real nodes need what this machine lacks: root, containerd, ctr, ip. To have them: run as root; apt-get install containerd iproute2. The control-plane profile is used instead: pods are simulated.",
    );
  });

  test("each package is installed once", () => {
    const missing = missingPrerequisites({
      ...complete,
      missingTools: ["ctr", "containerd", "nsenter", "unshare"],
    });
    expect(packagesOf(missing)).toEqual(["containerd", "util-linux"]);
  });
});
