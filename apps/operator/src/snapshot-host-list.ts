import { isHostEntry } from "@quartermaster/search";
import { z } from "zod";

/** Hosts of `--snapshot-hosts`. */
export const snapshotHostList: z.ZodType<string[], string> = z
  .string()
  .transform((text) => text.split(",").map((host) => host.trim()))
  .pipe(
    z.array(z.string().refine(isHostEntry, "must be hosts, e.g. backups.example.com,*.storage.example.com")),
  );
