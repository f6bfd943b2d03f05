import { releaseVersion } from "@quartermaster/api/release";

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
    print(terminal, format, { data: { version: releaseVersion }, text: `qm ${releaseVersion}` });
    return await Promise.resolve(exitCode.ok);
  },
};
