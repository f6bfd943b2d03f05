import { thisPlatform } from "../assets/platform.ts";
import type { ImageLayout } from "./image-layout.ts";
import { writeImageLayout } from "./image-layout.ts";
import { pauseProgram } from "./pause-program.ts";

/** The image of which every pod has one container that does nothing. */
export const PAUSE_IMAGE = "quartermaster.local/pause:1";

/** Writes the layout of the pause image into `target`. */
export async function writePauseImage(target: string): Promise<ImageLayout> {
  return await writeImageLayout({
    name: PAUSE_IMAGE,
    entries: [{ kind: "file", path: "pause", mode: 0o755, content: pauseProgram(thisPlatform().arch) }],
    entrypoint: ["/pause"],
    user: "65535:65535",
    compression: "none",
    target,
  });
}
