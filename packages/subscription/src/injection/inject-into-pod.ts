import { type Problem, reasons } from "../reasons.ts";
import type { SubscriptionSettings } from "../subscription-settings.ts";
import { arrangeVolumes } from "./arrange-volumes.ts";
import { generationsText, type PodChange } from "./changed-pod.ts";
import { type ContainerMounts, mountsFor } from "./desired-mounts.ts";
import { desiredVolumes } from "./desired-volumes.ts";
import type { ContainerView, PodView } from "./pod-view.ts";
import type { Collected } from "./source-collection.ts";

/** The volumes and mounts of a pod with bundles, or why they do not fit. */
export type PodInjection =
  | { readonly kind: "change"; readonly change: PodChange; readonly warnings: readonly string[] }
  /** No container can take them, and no one requested them. */
  | { readonly kind: "nothing"; readonly warnings: readonly string[] }
  | { readonly kind: "problem"; readonly problem: Problem };

/**
 * Fits the sources into the pod. A container that mounts something else at our paths is an error if the pod names a bundle;
 * otherwise no one requested the injection, and that container is left alone.
 */
export function injectIntoPod(
  pod: PodView,
  collected: Collected,
  settings: SubscriptionSettings,
): PodInjection {
  const placement = arrangeVolumes(pod, desiredVolumes(collected, settings), settings);
  const found = pod.containers.map(
    (container) => [container, mountsFor(container, placement, settings)] as const,
  );
  const occupied = found.filter(([, { conflict }]) => conflict !== undefined);
  const [first] = occupied;
  if (first !== undefined && collected.bundles.some(({ candidate }) => candidate.isNamed)) {
    const [{ name }, { conflict = "" }] = first;
    const text = `container "${name}" already mounts "${conflict}"; mount it elsewhere`;
    return { kind: "problem", problem: { reason: reasons.mountPathConflict, text } };
  }
  const warnings = occupiedWarning(occupied.map(([container]) => container));
  if (occupied.length === found.length) return { kind: "nothing", warnings };
  return {
    kind: "change",
    change: {
      volumes: placement.volumes,
      mounts: new Map(found.map(([container, { mounts }]) => [container, mounts])),
      records: {
        generations: generationsText(collected.bundles),
        volumes: placement.placed.map(({ name }) => name).join(","),
      },
    },
    warnings: [
      ...warnings,
      ...layoutWarnings(
        found.map(([, mounts]) => mounts),
        collected,
      ),
    ],
  };
}

function occupiedWarning(containers: readonly ContainerView[]): readonly string[] {
  const [first, ...others] = containers;
  if (first === undefined) return [];
  const more = others.length === 0 ? "" : ` and ${others.length} more`;
  return [`nothing is injected into container "${first.name}"${more}: the path is mounted already`];
}

function layoutWarnings(containers: readonly ContainerMounts[], { sources }: Collected): readonly string[] {
  const has = (purpose: "repository" | "entitlement"): boolean =>
    sources.some((source) => source.purpose === purpose && source.files.length > 0);
  const asFiles = (purpose: "repository" | "entitlement"): boolean =>
    has(purpose) && containers.some(({ layouts }) => layouts.get(purpose) === "files");
  const names = sources.filter(({ purpose }) => purpose === "repository").flatMap(({ files }) => files);
  return [
    ...(asFiles("repository")
      ? ["yum repositories are mounted file by file: later edits reach only new pods"]
      : []),
    ...(asFiles("entitlement")
      ? ["entitlements are mounted file by file: a rotation reaches only new pods"]
      : []),
    ...(containers.some(({ isHiding }) => isHiding)
      ? ["repoLayout is directory: /run/secrets hides what else is mounted there, such as tokens"]
      : []),
    ...(has("repository") && !names.some(({ path }) => path === "redhat.repo")
      ? ["no yum repository file is called redhat.repo: others are probably not read"]
      : []),
  ];
}
