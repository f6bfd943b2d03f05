import type { Asset } from "./asset.ts";
import type { Component } from "./component.ts";

/** Builds that take less need no announcement: their own line says how long. */
const ANNOUNCED_SECONDS = 120;

/** Before long builds: how long all of them take and why they are needed. Undefined for short ones. */
export function buildAnnouncement(missing: readonly Asset[], reason: string): string | undefined {
  const components = missing.map(({ component }) => component);
  const seconds = buildSeconds(components);
  if (seconds < ANNOUNCED_SECONDS) return undefined;
  const minutes = Math.ceil(seconds / 60);
  return `${components.length} programs are not in the cache and cannot be downloaded (${reason}): building them from source takes about ${minutes} minutes on two cores, once per version`;
}

/** How long it takes to build them on two idle cores with an empty Go cache. */
export function buildSeconds(components: readonly Component[]): number {
  return components.reduce((sum, component) => sum + component.buildSeconds, 0);
}
