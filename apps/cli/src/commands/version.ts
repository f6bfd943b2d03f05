import { readFile } from "node:fs/promises";
import { join } from "node:path";

import type { Command } from "../command.ts";
import { exitCode } from "../errors.ts";
import { print } from "../output/print.ts";

/** Tells the version of the program. */
export const versionCommand: Command = {
  name: "version",
  summary: "show the version of qm",
  operands: "",
  options: {},
  run: async ({ format }, { terminal }) => {
    const text = await readFile(join(import.meta.dirname, "../../package.json"), "utf8");
    const version = /"version": "(?<version>[^"]+)"/.exec(text)?.groups?.["version"] ?? "unknown";
    print(terminal, format, { data: { version }, text: `qm ${version}` });
    return exitCode.ok;
  },
};
