import { canonicalJson } from "@quartermaster/runtime";

import { type Problem, reasons } from "../reasons.ts";
import { denyAnnotation } from "./choose-bundles.ts";
import { type Candidate, fileLimit, type Purpose, referenceKey } from "./injection-facts.ts";
import { volumeNames } from "./our-paths.ts";
import { type ResolvedBundle, type Source, tooManyFiles } from "./resolve-bundle.ts";

/** The bundles that are injected together, and their sources without doubles. */
export interface Collected {
  readonly bundles: readonly ResolvedBundle[];
  readonly sources: readonly Source[];
}

/** Two bundles, or one with itself, that would give a file the same name. */
interface Overlap {
  readonly purpose: Purpose;
  readonly path: string;
  readonly other: Candidate;
}

/**
 * Collects sources bundle by bundle and finds the first file name that two objects would give. The kubelet does not: with it the
 * later object silently wins. The same object in two bundles is one source, not a conflict.
 */
export class SourceCollection {
  readonly #bundles: ResolvedBundle[] = [];
  readonly #sources = new Map<string, Source>();
  readonly #files = new Map<string, Candidate>();

  /** Adds a bundle, or says why it does not go with those before it. */
  add(bundle: ResolvedBundle): Problem | undefined {
    const reserved = reservedOf(bundle);
    if (reserved !== undefined) return reserved;
    const fresh = bundle.sources.filter((source) => !this.#sources.has(identityOf(source)));
    const files = fresh.reduce((sum, source) => sum + source.files.length, this.#files.size);
    if (files > fileLimit) return tooManyFiles;
    const overlap = this.#overlapOf(bundle, fresh);
    if (overlap !== undefined) return problemOf(overlap, bundle.candidate);
    this.#bundles.push(bundle);
    for (const source of fresh) {
      this.#sources.set(identityOf(source), source);
      for (const { path } of source.files) this.#files.set(fileOf(source, path), bundle.candidate);
    }
    return undefined;
  }

  /** The added sources, in order. */
  collected(): Collected {
    return { bundles: this.#bundles, sources: [...this.#sources.values()] };
  }

  #overlapOf({ candidate }: ResolvedBundle, sources: readonly Source[]): Overlap | undefined {
    const own = new Set<string>();
    for (const source of sources)
      for (const { path } of source.files) {
        const file = fileOf(source, path);
        const other = own.has(file) ? candidate : this.#files.get(file);
        if (other !== undefined) return { purpose: source.purpose, path, other };
        own.add(file);
      }
    return undefined;
  }
}

/** A repository file of this name would be where the directory of entitlements is. */
function reservedOf({ candidate, sources }: ResolvedBundle): Problem | undefined {
  const files = sources.filter(({ purpose }) => purpose === "repository").flatMap(({ files: own }) => own);
  if (!files.some(({ path }) => path === volumeNames.entitlement)) return undefined;
  const text = `key "${volumeNames.entitlement}" of ${candidate.kind} "${candidate.name}" is where entitlements are mounted; rename it with items`;
  return { reason: reasons.repositoryKeyConflict, text };
}

/** The same object with other file names is another source. */
function identityOf({ purpose, object, items }: Source): string {
  return canonicalJson([purpose, referenceKey(object), items ?? null]);
}

function fileOf({ purpose }: Source, path: string): string {
  return `${purpose}/${path}`;
}

function problemOf({ purpose, path, other }: Overlap, candidate: Candidate): Problem {
  return {
    reason: purpose === "entitlement" ? reasons.entitlementKeyConflict : reasons.repositoryKeyConflict,
    text: `key "${path}" is provided by ${describePair(other, candidate)}; ${remedyFor(candidate)}`,
  };
}

function describePair(one: Candidate, other: Candidate): string {
  const plural = other.kind === "Bundle" ? "bundles" : "cluster bundles";
  if (one.kind !== other.kind) return `${one.kind} "${one.name}" and ${other.kind} "${other.name}"`;
  if (one.name === other.name) return `two objects of ${plural.slice(0, -1)} "${one.name}"`;
  return `${plural} "${one.name}" and "${other.name}"`;
}

/** The creator of the pod cannot edit every bundle, but can leave out one that was not requested. */
function remedyFor({ kind, name, isNamed }: Candidate): string {
  if (isNamed) return "give one of them items or a prefix";
  return `to leave one out, annotate the pod with ${denyAnnotation(kind)}: "${name}"`;
}
