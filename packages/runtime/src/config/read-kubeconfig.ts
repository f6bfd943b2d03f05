import { readFile } from "node:fs/promises";

import { type Document, parseDocument } from "yaml";

import { ConfigError } from "../errors.ts";
import { type Kubeconfig, kubeconfigSchema } from "./kubeconfig.ts";
import { schemaError } from "./schema-error.ts";

/** Real files have a few kilobytes; the YAML reader's time grows with the square of the keys. */
const sizeLimitBytes = 1024 * 1024;

/** Enough for hand-written files, too few for a bomb. */
const aliasLimit = 100;

/** Reads and checks one file. Throws ConfigError that names the file and the field. */
export async function readKubeconfig(file: string): Promise<Kubeconfig> {
  const text = await readText(file);
  const document = parseDocument(text, { prettyErrors: false });
  const [fault] = document.errors;
  if (fault !== undefined) {
    // The parser's own message quotes the line, which may hold a token.
    const line = text.slice(0, fault.pos[0]).split("\n").length;
    throw new ConfigError(`not YAML: ${fault.code} in line ${line}`, { code: "configNotYaml", file });
  }
  const parsed = kubeconfigSchema.safeParse(valueOf(document, file) ?? {});
  if (parsed.success) return parsed.data;
  throw schemaError(file, parsed.error);
}

async function readText(file: string): Promise<string> {
  try {
    const bytes = await readFile(file);
    if (bytes.length <= sizeLimitBytes) return bytes.toString("utf8");
  } catch (cause) {
    const isMissing = cause instanceof Error && "code" in cause && cause.code === "ENOENT";
    const code = isMissing ? "configNotFound" : "configUnreadable";
    throw new ConfigError(isMissing ? "no such file" : "cannot be read", { code, file, cause });
  }
  throw new ConfigError(`larger than ${sizeLimitBytes} bytes`, { code: "configUnreadable", file });
}

function valueOf(document: Document, file: string): unknown {
  try {
    return document.toJS({ maxAliasCount: aliasLimit }) as unknown;
  } catch (cause) {
    throw new ConfigError("too many aliases or an alias without anchor", {
      code: "configNotYaml",
      file,
      cause,
    });
  }
}
