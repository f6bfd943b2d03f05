import { readFileSync } from "node:fs";

/** One line of a mount table. */
export interface Mount {
  readonly mountPoint: string;
  readonly fileSystem: string;
}

/** What this process sees mounted, in the order in which it was mounted. */
export function readMountTable(): readonly Mount[] {
  return parseMountTable(readFileSync("/proc/self/mountinfo", "utf8"));
}

/** Reads the text of /proc/PID/mountinfo. Fields before the " - " vary in number; blanks in paths are octal escapes. */
export function parseMountTable(text: string): readonly Mount[] {
  return text.split("\n").flatMap((line) => {
    const [place = "", source = ""] = line.split(" - ");
    const mountPoint = place.split(" ")[4];
    const fileSystem = source.split(" ")[0];
    return mountPoint === undefined || fileSystem === undefined
      ? []
      : [{ mountPoint: unescapePath(mountPoint), fileSystem }];
  });
}

/** Mount points at or below `folder`, last mounted first: the order in which they can be unmounted. */
export function mountsBelow(folder: string, table: readonly Mount[]): readonly string[] {
  return table
    .map(({ mountPoint }) => mountPoint)
    .filter((mountPoint) => mountPoint === folder || mountPoint.startsWith(`${folder}/`))
    .toReversed();
}

function unescapePath(path: string): string {
  return path.replaceAll(/\\([0-7]{3})/g, (_, octal: string) =>
    String.fromCodePoint(Number.parseInt(octal, 8)),
  );
}
