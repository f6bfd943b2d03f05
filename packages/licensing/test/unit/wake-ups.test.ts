import { elasticsearchCluster, type ElasticsearchCluster } from "@quartermaster/api";
import {
  clusterLicense,
  enterpriseLicense,
  licenseAssociation,
  type LicenseAssociation,
} from "@quartermaster/api/licensing";
import { licenseParameters } from "@quartermaster/license-selection";
import type { Kind, Live, MappedSource, ObjectRef } from "@quartermaster/runtime";
import { namespaces, secrets } from "@quartermaster/runtime/kinds";
import { wokenBy } from "@quartermaster/runtime/testing";
import { describe, expect, test } from "vitest";

import { bindingWatches, groupsOf } from "../../src/binding/binding-controller.ts";
import { clusterLicenseWatches } from "../../src/cluster-license/cluster-license-controller.ts";
import { licenseState } from "../../src/expiry/license-state.ts";
import { KnownClusters } from "../../src/known-clusters.ts";
import type { licensingReasons } from "../../src/reasons.ts";
import { aCluster, anEnterprise } from "../support/license-objects.ts";

const settings = { licenseNamespace: "licenses", parameters: licenseParameters };
type Event = Parameters<typeof wokenBy>[1];

function live(kind: Pick<Kind, "kind">, metadata: object, more: object = {}): Live {
  // Secrets and namespaces have no generation.
  const isCounted = kind.kind !== secrets.kind && kind.kind !== namespaces.kind;
  const generation = isCounted ? { generation: 1 } : {};
  const identity = { name: "x", namespace: "team", uid: "x", resourceVersion: "1", ...generation };
  return { apiVersion: "v1", kind: kind.kind, metadata: { ...identity, ...metadata }, ...more };
}

const added = (object: Live): Event => ({ type: "added", isInitial: false, new: object });
const deleted = (object: Live): Event => ({ type: "deleted", isInitial: false, old: object });
const updated = (old: Live, change: object, more: object = {}): Event => ({
  type: "updated",
  isInitial: false,
  old,
  new: { ...old, ...more, metadata: { ...old.metadata, resourceVersion: "2", ...change } },
});

/** Refs as `namespace/name` that an event of a kind brings back, over all sources of the kind. */
function wokenOf(sources: readonly MappedSource[], kind: Kind, event: Event): readonly string[] {
  return sources
    .filter(({ source }) => ("plural" in source ? source : source.kind).kind === kind.kind)
    .flatMap((source) => wokenBy(source, event))
    .map(({ namespace = "", name }: ObjectRef) => `${namespace}/${name}`)
    .toSorted();
}

function clusterIn(namespace: string, name: string): Live<ElasticsearchCluster> {
  const cluster = aCluster(name);
  return { ...cluster, metadata: { ...cluster.metadata, namespace, uid: `${namespace}-${name}` } };
}

/** Watches of bindings that know so many clusters: two in each namespace. */
function bindings(count: number): readonly MappedSource[] {
  const known = new KnownClusters();
  const sources = bindingWatches(settings, known);
  for (let at = 0; at < count; at += 1) {
    const cluster = clusterIn(`ns${String(Math.floor(at / 2))}`, `c${String(at)}`);
    wokenOf(sources, elasticsearchCluster.kind, added(cluster));
  }
  return sources;
}

const all = (count: number): readonly string[] =>
  Array.from({ length: count }, (_, at) => `ns${String(Math.floor(at / 2))}/c${String(at)}`).toSorted();
const enterprise = anEnterprise("e", ["p1"]);
const poolLicense: Live = { ...enterprise, metadata: { ...enterprise.metadata, generation: 1 } };
const signature = live(secrets, { name: "e-signatures", namespace: "licenses" });
const association = (source: boolean): Live<LicenseAssociation> =>
  live(
    licenseAssociation.kind,
    { namespace: "ns0", name: "c0-license" },
    {
      spec: {
        clusterRef: { name: "c0" },
        ...(source ? { source: { namespace: "licenses", name: "e" } } : {}),
      },
    },
  ) as Live<LicenseAssociation>;

describe.each([1, 2, 3, 4])("of %i clusters", (count) => {
  test.each([
    { name: "is created", event: added(poolLicense) },
    { name: "is edited", event: updated(poolLicense, { generation: 2 }) },
    { name: "is deleted", event: deleted(poolLicense) },
  ])("every one comes back when an EnterpriseLicense $name", ({ event }) => {
    expect(wokenOf(bindings(count), enterpriseLicense.kind, event)).toEqual(all(count));
  });

  test.each([
    { name: "created after its license", event: added(signature) },
    { name: "changed", event: updated(signature, {}) },
    { name: "deleted", event: deleted(signature) },
  ])("every one comes back when a signature is $name", ({ event }) => {
    const sources = bindings(count);
    wokenOf(sources, enterpriseLicense.kind, added(poolLicense));
    expect(wokenOf(sources, secrets, event)).toEqual(all(count));
  });

  test.each([
    { name: "a place is taken", event: added(association(true)) },
    { name: "a place comes free", event: deleted(association(true)) },
    {
      name: "a cluster gives its place up and keeps its association",
      event: updated(association(true), { generation: 2 }, { spec: association(false).spec }),
    },
  ])("every one comes back when $name", ({ event }) => {
    expect(wokenOf(bindings(count), licenseAssociation.kind, event)).toEqual(
      expect.arrayContaining([...all(count)]),
    );
  });

  test("only those of a namespace come back when a license of it, or its labels, change", () => {
    const near = all(count).filter((ref) => ref.startsWith("ns0/"));
    const license = live(clusterLicense.kind, { namespace: "ns0" });
    const { namespace: _none, ...own } = live(namespaces, { name: "ns0", labels: { a: "1" } }).metadata;
    const namespace = { apiVersion: "v1", kind: "Namespace", metadata: own } as Live;
    const sources = bindings(count);
    expect(wokenOf(sources, clusterLicense.kind, added(license))).toEqual(near);
    expect(wokenOf(sources, namespaces, updated(namespace, { labels: { a: "2" } }))).toEqual(near);
    expect(wokenOf(sources, namespaces, updated(namespace, {}))).toEqual([]);
  });

  test("none comes back for a status of ours, or for a Secret that no license names", () => {
    const sources = bindings(count);
    expect([
      wokenOf(sources, enterpriseLicense.kind, updated(poolLicense, {})),
      wokenOf(sources, secrets, added(live(secrets, { name: "other", namespace: "licenses" }))),
    ]).toEqual([[], []]);
  });

  test("each is still known after those that are deleted are forgotten", () => {
    const known = new KnownClusters();
    const live1 = Array.from({ length: count }, (_, at) => clusterIn("ns0", `c${String(at)}`));
    const gone = Array.from({ length: 1_000 }, (_, at) => clusterIn("ns0", `gone${String(at)}`));
    for (const cluster of [...live1, ...gone])
      for (const group of groupsOf(cluster)) known.note(group, cluster);
    known.prune({ list: () => live1 }, groupsOf);
    expect(known.refs("ns0").map(({ name }) => name)).toEqual(live1.map(({ metadata }) => metadata.name));
  });
});

describe("a ClusterLicense comes back when", () => {
  const known = new KnownClusters();
  const sources = clusterLicenseWatches(settings, known);
  const licenses = ["a", "b"].map((name) => live(clusterLicense.kind, { name, uid: name }));
  for (const license of [...licenses, live(clusterLicense.kind, { name: "c", uid: "c", namespace: "other" })])
    wokenOf(sources, clusterLicense.kind, added(license));
  const cluster = { ...aCluster("x", { license: { uid: "a" } }), kind: "ElasticsearchCluster" } as Live;

  test.each<{
    readonly name: string;
    readonly kind: Kind;
    readonly event: Event;
    readonly want: readonly string[];
  }>([
    {
      name: "an engine of its namespace reports a license",
      kind: elasticsearchCluster.kind,
      event: updated(cluster, {}, { status: { license: { uid: "b" } } }),
      want: ["team/a", "team/b"],
    },
    {
      name: "the association of a cluster is written, which is after the copy",
      kind: licenseAssociation.kind,
      event: added(live(licenseAssociation.kind, {})),
      want: ["team/a", "team/b"],
    },
    {
      name: "the EnterpriseLicense that it ends with is edited",
      kind: enterpriseLicense.kind,
      event: updated(poolLicense, { generation: 2 }),
      want: ["other/c", "team/a", "team/b"],
    },
  ])("$name", ({ kind, event, want }) => {
    expect(wokenOf(sources, kind, event)).toEqual(want);
  });

  test("and not when a status of ours is written", () => {
    const found = [
      wokenOf(sources, licenseAssociation.kind, updated(live(licenseAssociation.kind, {}), {})),
      wokenOf(sources, elasticsearchCluster.kind, updated(cluster, {})),
    ];
    expect(found).toEqual([[], []]);
  });
});

/** What ends a reason, or why nothing does. A reason without a row does not compile. */
type Ends =
  /** A watch of bindings, associations or licenses, shown above or in `association-state.test.ts`. */
  | "event"
  /** A moment that is known before. */
  | "time"
  /** It says how things are, and waits for nothing. */
  | "state"
  /** Only an edit of the object itself ends it. */
  | "edit";

const ends: Readonly<Record<keyof typeof licensingReasons, Ends>> = {
  capacityExceeded: "event",
  clusterNotFound: "event",
  downgradeBlocked: "time",
  eulaNotAccepted: "edit",
  expired: "edit",
  expiringSoon: "time",
  licenseApplied: "state",
  licenseConflict: "state",
  licenseExpired: "state",
  licenseExpiring: "state",
  licenseNotFound: "event",
  licenseSwitched: "state",
  maxNodesExceeded: "event",
  noKeyConfigured: "state",
  noLicenseAvailable: "event",
  noMatchingLicense: "event",
  notYetApplied: "event",
  notYetRead: "event",
  pinConflict: "event",
  rejectedByCluster: "event",
  scheduled: "time",
  signatureInvalid: "event",
  superseded: "event",
  uidMismatch: "event",
  valid: "time",
  withinCapacity: "event",
  wrongNamespace: "edit",
};

describe("moments of a license", () => {
  const dayMs = 86_400_000;
  const license = { startMs: 0, expiryMs: 100 * dayMs };
  const at = (nowMs: number): ReturnType<typeof licenseState> =>
    licenseState(license, nowMs, licenseParameters);

  test.each([
    { name: "it starts", fromMs: -1, to: "Valid" },
    { name: "30 days are left", fromMs: 0, to: "ExpiringSoon" },
    { name: "14 days are left", fromMs: 70 * dayMs, to: "ExpiringSoon" },
    { name: "7 days are left", fromMs: 86 * dayMs, to: "ExpiringSoon" },
    { name: "one day is left", fromMs: 93 * dayMs, to: "ExpiringSoon" },
    { name: "it ends", fromMs: 99 * dayMs, to: "Expired" },
  ])("the next one is when $name", ({ fromMs, to }) => {
    const { nextMs = 0, ...before } = at(fromMs);
    const { nextMs: _later, ...just } = at(nextMs - 1);
    expect(just).toEqual(before);
    expect(at(nextMs).state).toBe(to);
    expect(at(nextMs)).not.toMatchObject(before);
  });

  test("no moment follows the end", () => {
    expect(at(100 * dayMs)).toEqual({ state: "Expired" });
  });

  test("reasons that pass with time are those of a moment", () => {
    const timed = Object.entries(ends).flatMap(([reason, end]) => (end === "time" ? [reason] : []));
    expect(timed.toSorted()).toEqual(["downgradeBlocked", "expiringSoon", "scheduled", "valid"]);
  });
});
