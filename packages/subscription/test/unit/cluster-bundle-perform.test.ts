import { share } from "@quartermaster/api";
import {
  classify,
  type Context,
  type Desired,
  ExternalError,
  type Kind,
  type KubeObject,
} from "@quartermaster/runtime";
import { apiError, RecordedApi } from "@quartermaster/testkit";
import { describe, expect, test } from "vitest";

import { desiredClusterRole, foreignParts } from "../../src/cluster-bundle/desired-cluster-role.ts";
import type { LiveShare } from "../../src/cluster-bundle/observe.ts";
import { perform } from "../../src/cluster-bundle/perform.ts";
import type { ClusterBundleAction } from "../../src/cluster-bundle/rules.ts";
import { driverAccess, webhookAccess } from "../../src/object-access/object-access.ts";
import { entitlement } from "../support/seen.ts";

const secretOf = (name: string, namespace = "ns") => ({ kind: "Secret", namespace, name }) as const;

const liveShare: KubeObject = {
  apiVersion: "shares.quartermaster.dev/v1alpha1",
  kind: share.kind.kind,
  metadata: { name: "s" },
};
const liveRole: KubeObject = {
  apiVersion: "rbac.authorization.k8s.io/v1",
  kind: "Role",
  metadata: { name: "r", namespace: "ns" },
};
const liveClusterRole = {
  apiVersion: "rbac.authorization.k8s.io/v1",
  kind: "ClusterRole",
  metadata: {
    name: "cb-subscription-bundle",
    labels: { "rbac.authorization.k8s.io/aggregate-to-admin": "true" },
  },
  rules: [{ apiGroups: [""], resources: ["pods"], verbs: ["get"] }],
};

/** Carries actions out against a server that remembers every write; gives what was thrown. */
function aBench(objects: readonly KubeObject[] = []) {
  const api = new RecordedApi(objects);
  const events: string[] = [];
  const apply = async (kind: Kind, desired: Desired<KubeObject>): Promise<KubeObject> =>
    await api.client.apply<KubeObject>(
      kind,
      { ...desired, apiVersion: "v1", kind: kind.kind },
      { fieldManager: "bundles", force: true },
    );
  const ctx = {
    client: api.client,
    apply,
    store: (kind: Kind) => ({ get: (ref: { name: string }) => api.find(kind.kind, ref) }),
    events: { record: ({ reason }: { reason: string }) => events.push(reason) },
    signal: new AbortController().signal,
  } as unknown as Context;
  return {
    api,
    events,
    carryOut: async (action: ClusterBundleAction): Promise<unknown> => {
      try {
        await perform(action, ctx);
        return undefined;
      } catch (error) {
        return error;
      }
    },
    live: ({
      kind,
      metadata,
    }: KubeObject): KubeObject & { metadata: { uid: string; resourceVersion: string } } => {
      const found = api.find(kind, metadata);
      if (found === undefined) throw new Error("no such object");
      return found;
    },
  };
}

interface Row {
  readonly name: string;
  readonly object: KubeObject;
  readonly action: (live: ReturnType<ReturnType<typeof aBench>["live"]>) => ClusterBundleAction;
}

const rows: readonly Row[] = [
  {
    name: "deleteShare",
    object: liveShare,
    action: ({ metadata: { uid, resourceVersion } }) => {
      const found: LiveShare = {
        kind: share.kind,
        name: "s",
        uid,
        resourceVersion,
        isDeleting: false,
        object: entitlement("a").object,
      };
      return { kind: "deleteShare", share: found };
    },
  },
  ...(["Role", "RoleBinding"] as const).map((of) => ({
    name: `deleteAccess ${of}`,
    object: { ...liveRole, kind: of },
    action: ({ metadata: { uid, resourceVersion } }: ReturnType<ReturnType<typeof aBench>["live"]>) =>
      ({
        kind: "deleteAccess",
        of,
        object: { name: "r", namespace: "ns", uid, resourceVersion },
      }) as const,
  })),
  {
    name: "cutRole",
    object: liveClusterRole,
    action: (live) => ({
      kind: "cutRole",
      name: "cb-subscription-bundle",
      body: foreignParts(live, desiredClusterRole("cb", [], {})) ?? {},
    }),
  },
];

describe("a write that takes something away, when another client acts just before it", () => {
  const acts = {
    edits: (live: KubeObject) => ({ ...live, metadata: { ...live.metadata, annotations: { a: "theirs" } } }),
    "makes it again": (live: KubeObject) => ({ ...live, metadata: { ...live.metadata, uid: "another" } }),
    "takes our reference off": (live: KubeObject) => ({
      ...live,
      metadata: { ...live.metadata, ownerReferences: [] },
    }),
  };
  test.each(rows.flatMap((row) => Object.entries(acts).map(([act, change]) => ({ ...row, act, change }))))(
    "$name leaves the object alone when another client $act",
    async ({ object, action, change }) => {
      const bench = aBench([object]);
      const decided = action(bench.live(object));
      let theirs: KubeObject | undefined;
      bench.api.beforeWrite = () => {
        theirs = bench.api.put(change(bench.live(object)));
      };
      expect(classify(await bench.carryOut(decided))).toBe("conflict");
      expect(bench.live(object)).toEqual(theirs);
      expect(bench.events).toEqual([]);
    },
  );

  test.each(rows)("$name carries uid and version", async ({ object, action }) => {
    const bench = aBench([object]);
    const live = bench.live(object);
    expect(await bench.carryOut(action(live))).toBeUndefined();
    const [write] = bench.api.writes;
    const { uid, resourceVersion } = live.metadata;
    const output = write?.verb === "delete" ? { metadata: write.options.preconditions } : write?.body;
    expect(output).toMatchObject({ metadata: { uid, resourceVersion } });
  });

  test.each(rows.filter(({ name }) => name !== "cutRole"))(
    "$name is done when the object no longer exists, and says nothing of a failure as if it were",
    async ({ object, action }) => {
      const bench = aBench([object]);
      const decided = action(bench.live(object));
      bench.api.beforeWrite = () => {
        throw apiError("transient");
      };
      expect(classify(await bench.carryOut(decided))).toBe("transient");
      bench.api.beforeWrite = () => undefined;
      bench.api.remove(object);
      expect(await bench.carryOut(decided)).toBeUndefined();
      expect(bench.events).toEqual([]);
    },
  );
});

describe("the permission of our other accounts", () => {
  const access = driverAccess("s", secretOf("one"));
  const action = { kind: "applyAccess", access } as const;

  test("is a Role before it is bound", async () => {
    const bench = aBench();
    await bench.carryOut(action);
    expect(bench.api.writes.map(({ verb, object }) => `${verb} ${object}`)).toEqual([
      "apply Role ns/s-share-driver",
      "apply RoleBinding ns/s-share-driver",
    ]);
  });

  test.each([
    { name: "nothing is left when the first write fails", fails: 1, want: [] },
    { name: "a Role that no one has is left when the second fails", fails: 2, want: ["Role"] },
  ])("$name", async ({ fails, want }) => {
    const bench = aBench();
    bench.api.beforeWrite = (_write, number) => {
      if (number === fails) throw apiError("transient");
    };
    expect(classify(await bench.carryOut(action))).toBe("transient");
    expect(bench.api.objects.map(({ kind }) => kind)).toEqual(want);
    bench.api.beforeWrite = () => undefined;
    expect(await bench.carryOut(action)).toBeUndefined();
    expect(bench.api.objects.map(({ kind }) => kind)).toEqual(["Role", "RoleBinding"]);
  });

  test.each([1, 2, 3, 4])("of %i objects counts as given only when it is for each of them", async (count) => {
    const names = ["a", "b", "c", "d"].slice(0, count);
    const [accessOfAll] = webhookAccess(
      { kind: "Bundle", name: "b" },
      names.map((name) => secretOf(name)),
      { name: "hook", namespace: "home" },
    );
    if (accessOfAll === undefined) throw new Error("no access");
    for (const denied of [...names, undefined]) {
      const bench = aBench();
      bench.api.beforeWrite = () => {
        throw apiError("forbidden");
      };
      bench.api.respondRaw = (_path, body) => ({
        status: { allowed: !JSON.stringify(body).includes(`"name":"${denied ?? "none"}"`) },
      });
      const error = await bench.carryOut({ kind: "applyAccess", access: accessOfAll });
      expect(error instanceof ExternalError, String(denied)).toBe(denied !== undefined);
    }
  });
});

describe("what is reported of Shares and ClusterRoles", () => {
  const desired = { metadata: { name: "s" } };
  test.each([
    {
      name: "a new Share",
      given: [],
      action: { kind: "applyShare", share: share.kind, desired },
      want: ["ShareCreated"],
    },
    {
      name: "a Share that is there",
      given: [liveShare],
      action: { kind: "applyShare", share: share.kind, desired },
      want: ["ShareUpdated"],
    },
    {
      name: "a new ClusterRole",
      given: [],
      action: { kind: "applyRole", desired: desiredClusterRole("cb", [], {}) },
      want: ["ClusterRoleCreated"],
    },
  ] as const)("$name", async ({ given, action, want }) => {
    const bench = aBench(given);
    expect(await bench.carryOut(action)).toBeUndefined();
    expect(bench.events).toEqual(want);
  });
});
