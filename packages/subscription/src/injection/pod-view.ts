import { posix } from "node:path";

import { fieldOf, isJsonObject, type JsonObject, listOf, textOf } from "@quartermaster/runtime";

import { type Annotations, annotations, valueOf } from "./annotations.ts";

/** The part of a pod that we read, which is foreign JSON: unknown fields stay in `object`. */
export interface PodView {
  readonly object: JsonObject;
  readonly annotations: Annotations;
  readonly volumes: readonly unknown[];
  readonly containers: readonly ContainerView[];
  /** `default` when the pod names none. */
  readonly serviceAccount: string;
  readonly isMirror: boolean;
  readonly isWindows: boolean;
  /** The cluster needs it to start others: only what it names itself is injected. */
  readonly isSystemCritical: boolean;
}

/** Lists of containers that come with a new pod. */
export type ContainerList = "containers" | "initContainers" | "ephemeralContainers";

/** One container, by the list that it is in. */
export interface ContainerView {
  readonly list: ContainerList;
  readonly index: number;
  readonly name: string;
  readonly mounts: readonly MountView[];
}

/** A mount as it is in the pod, with what we compare. */
export interface MountView {
  readonly raw: unknown;
  readonly volume: string;
  /** Normalised: absolute, without `..` and trailing slashes, `/var/run` as `/run`. */
  readonly path: string;
  readonly subPath: string;
  readonly isReadOnly: boolean;
}

/** Reads a pod. Anything that is not as it should be counts as absent: the API server refuses it later. */
export function viewPod(object: unknown): PodView {
  const pod = isJsonObject(object) ? object : {};
  const spec = fieldOf(pod, "spec");
  const given = textsOf(fieldOf(fieldOf(pod, "metadata"), "annotations"));
  return {
    object: pod,
    annotations: given,
    volumes: listOf(spec, "volumes"),
    containers: [...containersIn(spec, "containers"), ...containersIn(spec, "initContainers")],
    serviceAccount: accountOf(spec),
    isMirror: valueOf(given, annotations.mirror) !== undefined,
    isWindows:
      textOf(fieldOf(spec, "os"), "name") === "windows" ||
      textOf(fieldOf(spec, "nodeSelector"), "kubernetes.io/os") === "windows",
    isSystemCritical: criticalClasses.includes(textOf(spec, "priorityClassName") ?? ""),
  };
}

/** Priority classes of pods that the cluster needs to start others, e.g. of its network and of volume drivers. */
export const criticalClasses: readonly string[] = ["system-node-critical", "system-cluster-critical"];

/** The API server fills in `default`, but we do not rely on it. */
function accountOf(spec: unknown): string {
  const name = textOf(spec, "serviceAccountName") ?? "";
  return name === "" ? "default" : name;
}

/** The containers of one list. */
export function containersIn(spec: unknown, list: ContainerList): readonly ContainerView[] {
  return listOf(spec, list).map((container, index) => ({
    list,
    index,
    name: textOf(container, "name") ?? "",
    mounts: listOf(container, "volumeMounts").map(viewMount),
  }));
}

/** The name of a volume. */
export function volumeName(volume: unknown): string {
  return textOf(volume, "name") ?? "";
}

/** `/var/run` is a link to `/run` in nearly all images: both mean the same place. */
function normalisedPath(path: string): string {
  const absolute = posix.resolve("/", path);
  return absolute === "/var/run" || absolute.startsWith("/var/run/")
    ? absolute.slice("/var".length)
    : absolute;
}

/** Whether a path is the place itself or below it. */
export function isWithin(path: string, location: string): boolean {
  return path === location || path.startsWith(`${location}/`);
}

function viewMount(raw: unknown): MountView {
  return {
    raw,
    volume: textOf(raw, "name") ?? "",
    path: normalisedPath(textOf(raw, "mountPath") ?? ""),
    subPath: textOf(raw, "subPath") ?? textOf(raw, "subPathExpr") ?? "",
    isReadOnly: fieldOf(raw, "readOnly") === true,
  };
}

function textsOf(value: unknown): Annotations {
  if (!isJsonObject(value)) return {};
  const texts = Object.entries(value).filter(
    (entry): entry is [string, string] => typeof entry[1] === "string",
  );
  return Object.fromEntries(texts);
}
