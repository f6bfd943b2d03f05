import { createHash } from "node:crypto";

import {
  type ObjectIdentity,
  type Purpose,
  type Reference,
  referenceKey,
} from "../injection/injection-facts.ts";

/** A reference with the name of its Share. */
export interface NamedReference {
  readonly reference: Reference;
  readonly shareName: string;
}

/** A Share that the bundle is known to have. */
export interface KnownShare {
  readonly name: string;
  readonly object: ObjectIdentity;
}

/**
 * Names the Share of each reference. The first reference of a purpose gets the plain name and keeps it while it is listed; the
 * others get a suffix made from their object. Names never move, because a running pod mounts a Share by its name.
 */
export function nameShares(
  bundle: string,
  references: readonly Reference[],
  known: readonly KnownShare[],
): readonly NamedReference[] {
  return (["entitlement", "repository"] as const).flatMap((purpose) =>
    nameOfPurpose(
      plainName(bundle, purpose),
      references.filter((reference) => reference.purpose === purpose),
      known,
    ),
  );
}

function nameOfPurpose(
  plain: string,
  references: readonly Reference[],
  known: readonly KnownShare[],
): readonly NamedReference[] {
  const holder = plainHolder(plain, references, known);
  return references.map((reference) => ({
    reference,
    shareName: reference === holder ? plain : suffixedName(plain, reference.object),
  }));
}

/** The reference that has the plain name already, or else the first one that has no name yet. */
function plainHolder(
  plain: string,
  references: readonly Reference[],
  known: readonly KnownShare[],
): Reference | undefined {
  const hasName = ({ object }: Reference, name: string): boolean =>
    known.some((share) => share.name === name && referenceKey(share.object) === referenceKey(object));
  return (
    references.find((reference) => hasName(reference, plain)) ??
    references.find((reference) => !hasName(reference, suffixedName(plain, reference.object)))
  );
}

/** Lower case throughout: the seed's `yumRepository` is no name that the API server accepts. */
function plainName(bundle: string, purpose: Purpose): string {
  return `${bundle}-subscription-${purpose === "entitlement" ? "entitlement" : "yumrepository"}`;
}

function suffixedName(plain: string, { namespace, name }: ObjectIdentity): string {
  const hash = createHash("sha256").update(`${namespace}/${name}`).digest("hex");
  return `${plain}-${hash.slice(0, 8)}`;
}
