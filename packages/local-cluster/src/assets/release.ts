import type { System } from "../system/system.ts";
import type { Component, ProjectName } from "./component.ts";
import type { Platform } from "./platform.ts";

/** Where the project itself publishes a component. */
export interface Release {
  readonly fileUrl: string;
  /** A text with the SHA-256 of the file: the sum alone, or lines of sum and file name. */
  readonly checksumUrl: string;
  /** Path of the program inside the archive; a file without one is the program itself. */
  readonly archiveMember?: string;
}

/** The official release of a component, or its place on the mirror that `QM_RELEASE_MIRROR` names (same layout below `/<project>`). */
export function releaseOf(
  component: Component,
  version: string,
  { platform, system }: { readonly platform: Platform; readonly system: System },
): Release {
  const mirror = system.env["QM_RELEASE_MIRROR"];
  const base = mirror
    ? `${mirror.replace(/\/+$/, "")}/${component.project}`
    : RELEASE_SITES[component.project];
  const place = PLACES[component.project](component, version, platform);
  return {
    fileUrl: `${base}/${version}/${place.file}`,
    checksumUrl: `${base}/${version}/${place.checksums}`,
    ...(place.member === undefined ? {} : { archiveMember: place.member }),
  };
}

/** Finds the SHA-256 of `fileName` in a checksum text; undefined when it is not there. */
export function findChecksum(text: string, fileName: string): string | undefined {
  const lines = text
    .trim()
    .split("\n")
    .map((line) => line.trim().split(/\s+\*?/));
  const line =
    lines.find(([, name]) => name === fileName) ??
    (lines.length === 1 && lines[0]?.length === 1 ? lines[0] : undefined);
  const sum = line?.[0]?.toLowerCase();
  return sum !== undefined && /^[0-9a-f]{64}$/.test(sum) ? sum : undefined;
}

interface Place {
  readonly file: string;
  readonly checksums: string;
  readonly member?: string;
}

const RELEASE_SITES: Readonly<Record<ProjectName, string>> = {
  kubernetes: "https://dl.k8s.io/release",
  etcd: "https://github.com/etcd-io/etcd/releases/download",
  kwok: "https://github.com/kubernetes-sigs/kwok/releases/download",
  coredns: "https://github.com/coredns/coredns/releases/download",
};

const PLACES: Readonly<
  Record<ProjectName, (component: Component, version: string, platform: Platform) => Place>
> = {
  kubernetes: ({ name }, _version, { os, arch }) => {
    const file = `bin/${os}/${arch}/${name}`;
    return { file, checksums: `${file}.sha256` };
  },
  etcd: ({ name }, version, { os, arch }) => {
    const stem = `etcd-${version}-${os}-${arch}`;
    return { file: `${stem}.tar.gz`, checksums: "SHA256SUMS", member: `${stem}/${name}` };
  },
  // kwok 0.8 publishes no checksums, so its download is refused and it is built; a mirror may offer them under this name.
  kwok: ({ name }, _version, { os, arch }) => {
    const file = `${name}-${os}-${arch}`;
    return { file, checksums: `${file}.sha256` };
  },
  coredns: ({ name }, version, { os, arch }) => {
    const file = `coredns_${version.slice(1)}_${os}_${arch}.tgz`;
    return { file, checksums: `${file}.sha256`, member: name };
  },
};
