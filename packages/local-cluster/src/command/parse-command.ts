import { parseArgs } from "node:util";

import { LocalClusterError } from "../errors.ts";

export type Command =
  | { readonly kind: "up"; readonly options: UpOptions }
  | { readonly kind: "down"; readonly name: string }
  | { readonly kind: "status"; readonly name: string }
  | { readonly kind: "build"; readonly kubernetesVersion: string | undefined }
  | { readonly kind: "help" };

/** The flags of `up`. */
export interface UpOptions {
  readonly name: string;
  /** `auto` takes real nodes where the machine can have them. */
  readonly profile: "auto" | "control-plane" | "nodes";
  readonly nodeCount: number;
  readonly kubernetesVersion: string | undefined;
  readonly port: number | undefined;
  /** Manifest files to apply once the cluster is there. */
  readonly apply: readonly string[];
  /** Directories of image layouts that real nodes know from the start. */
  readonly images: readonly string[];
}

/** The name under which `up` and `down` know the user's cluster. */
export const DEFAULT_NAME = "quartermaster";

/** The text of `help`. */
export const HELP = `local-cluster: a real Kubernetes on this machine, without a container engine

  local-cluster up [flags]      start it (or say where it is, when it runs already)
  local-cluster down [flags]    end it and remove everything it left
  local-cluster status [flags]  show its processes
  local-cluster build [flags]   fetch or build the binaries, start nothing

  --name NAME            which cluster (${DEFAULT_NAME})
  --profile PROFILE      control-plane, nodes, or auto: nodes where the machine can have them (auto)
  --nodes N              how many nodes (1)
  --kubernetes VERSION   1.36, 1.35, 1.34 (the newest)
  --port PORT            port of the API server on 127.0.0.1 (a free one)
  --apply FILE           apply these manifests; may be given several times
  --image DIRECTORY      OCI layout of an image that real nodes know; may be given several times
`;

/** Reads the command line; throws BadUsage with the remedy when it cannot be understood. */
export function parseCommand(argv: readonly string[]): Command {
  const { values, positionals } = parseInvocation(argv);
  const [terms = "help", ...rest] = positionals;
  if (rest.length > 0) throw badUsage(`There is one command too many: ${rest.join(" ")}.`);
  const name = values.name ?? DEFAULT_NAME;
  if (!/^[a-z0-9][a-z0-9-]{0,30}$/.test(name)) {
    throw badUsage(`--name ${name} must be at most 31 lower-case letters, digits and dashes.`);
  }
  if (values.help === true) return { kind: "help" };
  switch (terms) {
    case "up":
      return { kind: "up", options: upOptions(name, values) };
    case "down":
    case "status":
      return { kind: terms, name };
    case "build":
      return { kind: "build", kubernetesVersion: values.kubernetes };
    case "help":
      return { kind: "help" };
    default:
      throw badUsage(`There is no command ${terms}.`);
  }
}

interface FlagValues {
  readonly name?: string;
  readonly profile?: string;
  readonly nodes?: string;
  readonly kubernetes?: string;
  readonly port?: string;
  readonly apply?: readonly string[];
  readonly image?: readonly string[];
  readonly help?: boolean;
}

function parseInvocation(argv: readonly string[]): {
  readonly values: FlagValues;
  readonly positionals: readonly string[];
} {
  try {
    return parseArgs({
      args: [...argv],
      allowPositionals: true,
      options: {
        name: { type: "string" },
        profile: { type: "string" },
        nodes: { type: "string" },
        kubernetes: { type: "string" },
        port: { type: "string" },
        apply: { type: "string", multiple: true },
        image: { type: "string", multiple: true },
        help: { type: "boolean", short: "h" },
      },
    });
  } catch (error) {
    throw badUsage(error instanceof Error ? `${error.message}.` : String(error));
  }
}

function upOptions(name: string, values: FlagValues): UpOptions {
  return {
    name,
    profile: parseProfile(values.profile ?? "auto"),
    nodeCount: parseNumber("--nodes", values.nodes, { least: 1, most: 9 }) ?? 1,
    kubernetesVersion: values.kubernetes,
    port: parseNumber("--port", values.port, { least: 1, most: 65_535 }),
    apply: values.apply ?? [],
    images: values.image ?? [],
  };
}

function parseProfile(text: string): UpOptions["profile"] {
  if (text === "auto" || text === "control-plane" || text === "nodes") return text;
  throw badUsage(`--profile ${text} is none of auto, control-plane, nodes.`);
}

function parseNumber(
  flag: string,
  text: string | undefined,
  { least, most }: { readonly least: number; readonly most: number },
): number | undefined {
  if (text === undefined) return undefined;
  const value = Number(text);
  if (Number.isInteger(value) && value >= least && value <= most) return value;
  throw badUsage(`${flag} ${text} must be a whole number from ${least} to ${most}.`);
}

function badUsage(problem: string): LocalClusterError {
  return new LocalClusterError("BadUsage", problem, "`local-cluster help` lists the commands and flags.");
}
