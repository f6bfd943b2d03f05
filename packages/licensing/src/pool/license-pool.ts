import type { KeyObject } from "node:crypto";

import { type EnterpriseLicense, OUTER_SIGNATURE_KEY } from "@quartermaster/api/licensing";
import {
  isEnterpriseSigned,
  isStackSigned,
  type LicenseCandidate,
  type LicenseProblem,
  type NestedLicenseSpec,
  rankCandidates,
  type RankedCandidates,
  readSignature,
  type SignatureRead,
  type SignatureSecret,
  stackCandidate,
  type StackLicenseSpec,
} from "@quartermaster/license-selection";
import { definedFields, type Live } from "@quartermaster/runtime";

import { licensingReasons as reasons } from "../reasons.ts";

/** An EnterpriseLicense with all that follows from it, the same for every cluster. */
export interface PoolLicense {
  readonly license: Live<EnterpriseLicense>;
  readonly startMs: number;
  readonly expiryMs: number;
  /** Why nothing of it can be used. */
  readonly problem?: PoolProblem | undefined;
  /** True or false by the vendor's key; undefined where none is configured. */
  readonly isSignatureValid?: boolean | undefined;
  readonly nested: readonly NestedLicense[];
}

export interface PoolProblem {
  readonly reason: LicenseProblem | typeof reasons.wrongNamespace | typeof reasons.eulaNotAccepted;
  readonly message: string;
}

/** A license that a cluster can get. */
export interface NestedLicense {
  readonly spec: StackLicenseSpec;
  readonly signature: SignatureRead;
  readonly candidate: LicenseCandidate;
}

/** Where an EnterpriseLicense is read. */
export interface PoolReading {
  readonly licenseNamespace: string;
  readonly vendorKey?: KeyObject | undefined;
  /** A Secret of the license namespace; other namespaces are never read. */
  readonly secretOf: (name: string) => SignatureSecret | undefined;
}

/** Reads an EnterpriseLicense. One that is bad is bad on its own: no other one notices. */
export function readPoolLicense(license: Live<EnterpriseLicense>, reading: PoolReading): PoolLicense {
  const { spec, metadata } = license;
  const { issueDate, startDate = issueDate, expiryDate, clusterLicenses = [] } = spec;
  const times = { startMs: startDate, expiryMs: expiryDate };
  const isHere = metadata.namespace === reading.licenseNamespace;
  const outer = isHere ? outerSignature(license, reading) : undefined;
  const isSignatureValid = verified(license, outer, reading.vendorKey);
  const problem = problemOf(license, outer, { isSignatureValid, reading });
  return {
    license,
    ...times,
    problem,
    isSignatureValid,
    nested: isHere
      ? clusterLicenses.map((nested) => readNested(nested, { license, times, problem, reading }))
      : [],
  };
}

/** How an EnterpriseLicense is called in explanations. */
function poolSource({ metadata: { namespace, name } }: Live<EnterpriseLicense>): string {
  return `EnterpriseLicense ${namespace}/${name}`;
}

function outerSignature(
  { spec, metadata }: Live<EnterpriseLicense>,
  { secretOf }: PoolReading,
): SignatureRead {
  const secret = secretOf(spec.signatureRef.name);
  const hasOuter = Object.hasOwn(secret?.data ?? {}, OUTER_SIGNATURE_KEY);
  return readSignature({
    ref: spec.signatureRef,
    namespace: metadata.namespace ?? "",
    secret,
    ...(hasOuter ? { defaultKey: OUTER_SIGNATURE_KEY } : {}),
  });
}

function verified(
  { spec }: Live<EnterpriseLicense>,
  outer: SignatureRead | undefined,
  key: KeyObject | undefined,
): boolean | undefined {
  return key === undefined || outer?.kind !== "found" ? undefined : isEnterpriseSigned(spec, outer, key);
}

interface Checked {
  readonly isSignatureValid: boolean | undefined;
  readonly reading: PoolReading;
}

function problemOf(
  { spec }: Live<EnterpriseLicense>,
  outer: SignatureRead | undefined,
  { isSignatureValid, reading }: Checked,
): PoolProblem | undefined {
  if (outer === undefined)
    return {
      reason: reasons.wrongNamespace,
      message: `EnterpriseLicenses are honoured in namespace ${reading.licenseNamespace} only.`,
    };
  if (spec.type !== "enterprise" && spec.eula?.accepted !== true)
    return {
      reason: reasons.eulaNotAccepted,
      message: "The terms of a trial must be accepted: set spec.eula.accepted.",
    };
  if (outer.kind === "fault") return { reason: outer.problem, message: `${outer.message}.` };
  return isSignatureValid === false
    ? {
        reason: "SignatureInvalid",
        message: "The signature does not belong to these fields, or is not the vendor's.",
      }
    : undefined;
}

interface Around {
  readonly license: Live<EnterpriseLicense>;
  readonly times: { readonly startMs: number; readonly expiryMs: number };
  readonly problem: PoolProblem | undefined;
  readonly reading: PoolReading;
}

function readNested(nested: NestedLicenseSpec, { license, times, problem, reading }: Around): NestedLicense {
  const { signatureRef: own, ...spec } = nested;
  const ref = own ?? { name: license.spec.signatureRef.name, key: nested.uid };
  const signature = readSignature({
    ref,
    namespace: license.metadata.namespace ?? "",
    secret: reading.secretOf(ref.name),
  });
  const source = poolSource(license);
  const plain = stackCandidate({ spec, source, signature });
  const isForged =
    reading.vendorKey !== undefined &&
    plain.problem === undefined &&
    !isStackSigned({ spec, source, signature }, reading.vendorKey);
  const invalid = isForged ? ("SignatureInvalid" as const) : plain.problem;
  const known = invalid ?? (problem === undefined ? undefined : ("ParentInvalid" as const));
  return {
    spec,
    signature,
    candidate: { ...plain, parent: times, ...definedFields({ problem: known }) },
  };
}

/** Names of the Secrets that hold the signatures of an EnterpriseLicense. */
export function signatureSecrets({
  signatureRef,
  clusterLicenses = [],
}: EnterpriseLicense["spec"]): readonly string[] {
  const nested = clusterLicenses.flatMap((each) => each.signatureRef?.name ?? []);
  return [...new Set([signatureRef.name, ...nested])].toSorted();
}

/** Reads EnterpriseLicenses, each again only when it or its Secrets changed. A cache: its loss costs time alone. */
export class LicensePool {
  readonly #known = new Map<string, { readonly version: string; readonly read: PoolLicense }>();
  #last: RankedPool = rankPool([]);

  /** All of them, in the order of their names, and ranked. `versionOf` tells one state of a Secret from another. */
  read(
    licenses: readonly Live<EnterpriseLicense>[],
    reading: PoolReading & { readonly versionOf: (name: string) => string },
  ): RankedPool {
    if (this.#known.size > licenses.length + 100) this.#known.clear();
    const read = licenses
      .toSorted((one, other) => (poolSource(one) < poolSource(other) ? -1 : 1))
      .map((license) => this.#readOne(license, reading));
    const { licenses: before } = this.#last;
    const isSame = read.length === before.length && read.every((license, at) => license === before[at]);
    if (!isSame) this.#last = rankPool(read);
    return this.#last;
  }

  #readOne(
    license: Live<EnterpriseLicense>,
    reading: PoolReading & { readonly versionOf: (name: string) => string },
  ): PoolLicense {
    const { uid, resourceVersion } = license.metadata;
    const names = signatureSecrets(license.spec);
    const version = [resourceVersion, ...names.map((name) => reading.versionOf(name))].join(" ");
    const known = this.#known.get(uid);
    if (known?.version === version) return known.read;
    const read = readPoolLicense(license, reading);
    this.#known.set(uid, { version, read });
    return read;
  }
}

/** The pool in the order in which its licenses are preferred. Ranked when it changes, used for every cluster. */
export interface RankedPool {
  readonly licenses: readonly PoolLicense[];
  /** All nested licenses, best first. */
  readonly candidates: RankedCandidates;
  readonly origins: ReadonlyMap<LicenseCandidate, PoolOrigin>;
}

/** Where a candidate of the pool comes from. */
interface PoolOrigin {
  readonly pool: PoolLicense;
  readonly nested: NestedLicense;
}

/** Ranks the nested licenses of a pool. */
function rankPool(licenses: readonly PoolLicense[]): RankedPool {
  const origins = new Map(
    licenses.flatMap((pool) =>
      pool.nested.map((nested): [LicenseCandidate, PoolOrigin] => [nested.candidate, { pool, nested }]),
    ),
  );
  return { licenses, origins, candidates: rankCandidates(origins.keys()) };
}
