import { releaseOf } from "../owner-labels.ts";
import type { SearchCluster, SpecIssue } from "./search-cluster.ts";

/**
 * The version that the tag of an image names; undefined where it names none: a digest alone, `latest`, a tag of the author's own.
 *
 * @example
 * versionOfImage("registry:5000/opensearch:2.19.4-patched@sha256:ab"); // "2.19.4"
 */
export function versionOfImage(image: string): string | undefined {
  const [reference = ""] = image.split("@");
  const name = reference.slice(reference.lastIndexOf("/") + 1);
  return /^[^:]*:v?(\d{1,9}\.\d{1,9}\.\d{1,9})(?!\d)/.exec(name)?.[1];
}

/**
 * The version that is declared and that nodes do not run; undefined if there is none. An image whose tag names another version is another
 * version, whatever `general.version` says. An image that runs already is not: its tag may count something else.
 */
export function otherVersion(
  { version, image }: Pick<SearchCluster, "version" | "image">,
  running: { readonly version: string; readonly image: string | undefined },
): string | undefined {
  if (version !== running.version) return version;
  if (image.name === running.image) return undefined;
  const tagged = versionOfImage(image.name);
  return tagged === undefined || tagged === releaseOf(running.version) ? undefined : tagged;
}

/** Of a cluster that has not formed: version and image must not contradict each other, because no one knows which one the data gets. */
export function imageIssues({
  version,
  image,
}: Pick<SearchCluster, "version" | "image">): readonly SpecIssue[] {
  const tagged = versionOfImage(image.name);
  if (tagged === undefined || version === "" || tagged === releaseOf(version)) return [];
  return [
    {
      path: "spec.general.image",
      reason: "InvalidSpec",
      message: `has the tag of version ${tagged}, and spec.general.version says ${version}: write the version that the image holds in both, or use a tag that is no version`,
    },
  ];
}
