import { clusterLicense, type ClusterLicense } from "@quartermaster/api/licensing";
import type { Live } from "@quartermaster/runtime";
import { type Secret, secrets } from "@quartermaster/runtime/kinds";
import { interruptEachWrite, type RecordedWork, textOfWrite, writesUponOthers } from "@quartermaster/testkit";
import { describe, expect, test } from "vitest";

import type { BindingTarget } from "../../src/binding/decide-binding.ts";
import { signatureSecret } from "../../src/binding/license-copy.ts";
import { type BindBench, bindBench, type BoundBefore, toPool } from "../support/bind-bench.ts";
import { aCluster, nowMs } from "../support/license-objects.ts";

const under = (uid: string): object => ({ uid, type: "platinum", state: "Applied" });
const own = { name: "own", namespace: "team", uid: "own-k8s", resourceVersion: "1" };
const direct = { metadata: own, spec: { uid: "d1" } } as unknown as Live<ClusterLicense>;

interface Row {
  readonly name: string;
  readonly given?: BoundBefore;
  readonly target: BindingTarget;
  readonly want: readonly string[];
}

/** Names of the Secrets of the first licenses, in their order. */
const names = [1, 2, 3, 4, 5].map(
  (number) => `team/${signatureSecret(aCluster("a"), toPool(number).nested)?.metadata.name ?? ""}`,
);
const secretOf = (number: number): string => names[number - 1] ?? "";
const copy = "apply ClusterLicense team/a-pool";
const associated = "apply LicenseAssociation team/a-license";
const gone = {
  copy: "delete ClusterLicense team/a-pool (uid, resourceVersion)",
  association: "delete LicenseAssociation team/a-license (uid, resourceVersion)",
};
const deleted = (number: number): string => `delete Secret ${secretOf(number)} (uid)`;

const rows: readonly Row[] = [
  {
    name: "the signature is written before the license, and the association last",
    target: toPool(1),
    want: [`create Secret ${secretOf(1)}`, copy, associated],
  },
  {
    name: "the signature of the license that runs stays until the engine has the new one",
    given: { license: under("p1"), copies: 1, association: true },
    target: toPool(2),
    want: [`create Secret ${secretOf(2)}`, copy, associated],
  },
  ...[1, 2, 3, 4].map((before): Row => ({
    name: `signatures of ${String(before)} earlier licenses go once the engine has the new one`,
    given: { license: under(`p${String(before + 1)}`), copies: before + 1, association: true },
    target: toPool(before + 1),
    want: [...Array.from({ length: before }, (_, at) => deleted(before - at)), copy, associated],
  })),
  {
    name: "nothing is written again for a license that is bound, but what applies change",
    given: { copies: 1, association: true },
    target: toPool(1),
    want: [copy, associated],
  },
  {
    name: "a signature that the search domain does not find is written again",
    given: { license: { reason: "SignatureMissing" }, copies: 1, association: true, isSignatureLost: true },
    target: toPool(1),
    want: [`create Secret ${secretOf(1)}`, copy, associated],
  },
  {
    name: "a license of the namespace is associated, and the copy of the pool stays until the engine has it",
    given: { license: under("p1"), copies: 1, association: true },
    target: { kind: "license", license: direct },
    want: [associated],
  },
  {
    name: "the copy of the pool goes once the engine has a license of the namespace, signatures first",
    given: { license: under("d1"), copies: 2, association: true },
    target: { kind: "license", license: direct },
    want: [associated, deleted(2), deleted(1), gone.copy],
  },
  {
    name: "a license that is only rejected does not take the copy away",
    given: { license: { uid: "d1", type: "platinum", state: "Rejected" }, copies: 1, association: true },
    target: { kind: "license", license: direct },
    want: [associated],
  },
  ...[1, 2, 3, 4].map((copies): Row => ({
    name: `the place in the pool is given away last, after ${String(copies)} signatures and the copy`,
    given: { copies, association: true },
    target: { kind: "release" },
    want: [...Array.from({ length: copies }, (_, at) => deleted(copies - at)), gone.copy, gone.association],
  })),
  { name: "nothing is released where nothing is held", target: { kind: "release" }, want: [] },
  {
    name: "a license that is kept is not written",
    given: { copies: 1, association: true },
    target: { kind: "keep" },
    want: [],
  },
  {
    name: "a cluster over an enforced limit keeps the size that it has",
    given: { copies: 1, association: true, enforcing: true },
    target: { kind: "keep" },
    want: [associated],
  },
  {
    name: "a size that is granted is not granted again",
    given: { copies: 1, association: { grantedNodes: 2 }, enforcing: true },
    target: { kind: "keep" },
    want: [],
  },
];

function withoutUids(state: object): string {
  return JSON.stringify(state).replaceAll(/(a-pool-[0-9a-f]{10})=[^",]*/g, "$1");
}

describe("what a binding writes", () => {
  test.each(rows)("$name", async ({ given, target, want }) => {
    const { api, run } = bindBench(given);
    await run(target);
    expect(api.writes.map(textOfWrite)).toEqual(want);
  });

  test.each(rows)(
    "nothing follows a write that fails, and a second run completes it: $name",
    async ({ given, target }) => {
      const results = await interruptEachWrite(() => started(given, target));
      expect(results.filter(({ after, isRepeatable }) => after.length > 0 || !isRepeatable)).toEqual([]);
    },
  );

  test.each(rows)("nothing of another client is deleted or changed: $name", async ({ given, target }) => {
    expect(await writesUponOthers(() => started(given, target))).toEqual([]);
  });

  function started(given: BoundBefore | undefined, target: BindingTarget): RecordedWork {
    const { api, run } = bindBench(given);
    return {
      api,
      // The uid of a Secret is lost with the response to its creation.
      isSame: (one: object, other: object) => withoutUids(one) === withoutUids(other),
      run: async () => {
        await run(target);
      },
    };
  }
});

/** What must not be so at any moment. */
function problemsOf({ api, now }: BindBench, { kind }: BindingTarget): readonly string[] {
  const { copy: left, association } = now();
  if (left === undefined) return [];
  const ref = { namespace: "team", name: left.spec.signatureRef.name };
  const signed = api.read<Secret>(secrets, ref)?.data ?? {};
  // A copy that is given up loses its signature first: its name is known from the copy alone.
  const isUnsigned = kind === "pool" && !(left.spec.uid in signed);
  const isFree = kind !== "pool" && association === undefined;
  return [
    ...(isUnsigned ? ["a license without its signature"] : []),
    ...(isFree ? ["a license that takes no place"] : []),
  ];
}

describe("wherever a binding stops", () => {
  const switching: BoundBefore = { license: under("p1"), copies: 1, association: true };

  test.each([
    { name: "from one license to the next", given: switching, target: toPool(2) },
    {
      name: "to a license of the namespace",
      given: { ...switching, license: under("d1") },
      target: { kind: "license", license: direct } as const,
    },
    { name: "to none", given: switching, target: { kind: "release" } as const },
    { name: "for the first time", given: {} as BoundBefore, target: toPool(1) },
  ])("a license is never beside a signature that is not there: $name", async ({ given, target }) => {
    const whole = bindBench(given);
    await whole.run(target);
    const wrong: string[] = [];
    for (const at of whole.api.writes.keys()) {
      const stopped = bindBench(given);
      stopped.api.hook({
        before: (_write, now) => {
          if (now === at) throw new Error("the operator was killed");
        },
      });
      await Promise.allSettled([stopped.run(target)]);
      wrong.push(...problemsOf(stopped, target).map((problem) => `${String(at)}: ${problem}`));
    }
    expect(wrong).toEqual([]);
  });

  test("the copy remembers every signature that may be there, with its uid", async () => {
    const { run, now } = bindBench(switching);
    await run(toPool(2));
    const listed = now().copy?.metadata.annotations?.["license.k8s.elastic.co/signature-secrets"] ?? "";
    expect(listed.split(",").map((entry) => entry.split("=")[0])).toEqual(
      [secretOf(2), secretOf(1)].map((name) => name.slice(5)),
    );
    expect(listed.split(",").every((entry) => /=.+/.test(entry))).toBe(true);
  });

  test("the place of a cluster keeps its age while the license stays, and not when it is another one", async () => {
    const kept = bindBench({ copies: 1, association: true });
    await kept.run(toPool(1));
    const changed = bindBench({ copies: 1, association: { uid: "before" } });
    await changed.run(toPool(1));
    expect([kept, changed].map((each) => each.now().association?.spec.source?.since)).toEqual([
      "2025-01-01T00:00:00Z",
      new Date(nowMs).toISOString().replace(".000Z", "Z"),
    ]);
  });

  test("a Secret with a name that is not ours, or without a recorded uid, is never deleted, whatever the copy says", async () => {
    const { api, run, now } = bindBench({ copies: 1, association: true });
    const before = now().copy;
    if (before === undefined) throw new Error("no copy");
    const annotations = {
      "license.k8s.elastic.co/signature-secrets": "a-pool-0123456789=x,payroll=y,a-pool-short=z",
    };
    api.put(clusterLicense.kind, { ...before, metadata: { ...before.metadata, annotations } });
    await run({ kind: "release" });
    const deletions = api.writes
      .filter(({ verb, kind }) => verb === "delete" && kind === "Secret")
      .map(({ name }) => name);
    expect(deletions).toEqual(["team/a-pool-0123456789"]);
  });
});
