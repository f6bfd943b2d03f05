/**
 * `make up`: a local cluster, the operator beside it with the permissions we ship, and the samples. Where the operator runs already,
 * only what it needs is repaired and where to find it is printed: an earlier run may have been interrupted. The options are those of
 * `local-cluster up`, and `--with search` or `--with elasticsearch` for a search cluster as well, `--with search,monitoring` for one
 * that is monitored.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";

import {
  clusterDirectoryOf,
  executeCommand,
  LocalClusterError,
  type ReadyApi,
  type RunningCompanion,
} from "@quartermaster/local-cluster";

import { applySamplePlan, watchSamples } from "./apply-samples.ts";
import { bringUpMonitoring, bringUpSearch, rememberSearch } from "./bring-up-search.ts";
import { type Kubectl, kubectlIn, makeProgramImage, repository, UpError } from "./programs.ts";
import { type SearchOptions, searchOptions, withoutWith, withSearchImages } from "./search-options.ts";
import { startOperator } from "./start-operator.ts";

// A reader that has seen enough, such as `head`, closes the pipe. Ctrl-C ends this process, and the guardian of a cluster that is
// only half started clears it away.
for (const stream of [process.stdout, process.stderr])
  stream.on("error", (error: Error) => {
    if (!("code" in error) || error.code !== "EPIPE") throw error;
    process.exit(141);
  });
process.exitCode = await reportErrors(process.argv.slice(2));

async function reportErrors(args: readonly string[]): Promise<number> {
  try {
    return await bringUp(args);
  } catch (error) {
    if (!(error instanceof UpError) && !(error instanceof LocalClusterError)) throw error;
    process.stderr.write(`error: ${error.message}\n`);
    return error instanceof UpError ? error.exitCode : 1;
  }
}

async function bringUp(args: readonly string[]): Promise<number> {
  const { requested, rest } = withoutWith(args);
  const search = searchOptions(requested);
  const withSearch = search.samples.length > 0 ? await withSearchImages(rest, search) : rest;
  const { name, profile, isHelpWanted } = understood(withSearch);
  const driver = isHelpWanted ? [] : await shareDriverImage(name, profile);
  const stop = new AbortController();
  let begun: Promise<PromiseSettledResult<Bootstrapped>> | undefined;
  const code = await executeCommand(["up", ...withSearch, ...driver], {
    out: process.stdout,
    err: process.stderr,
    // As soon as the API answers: nodes take longer, on a new machine by minutes.
    onApiReady: (api) => {
      begun = settled(bootstrap(api, search, stop.signal));
    },
  });
  if (code !== 0 || isHelpWanted) {
    stop.abort();
    await begun;
    return code;
  }
  const directory = clusterDirectoryOf(name);
  const note = (text: string): boolean => process.stdout.write(`${text}\n`);
  const outcome = await (begun ?? settled(bootstrap({ directory, note }, search, stop.signal)));
  if (outcome.status === "rejected") throw outcome.reason;
  if (!outcome.value.wasRunning) await watchSamples(directory, outcome.value.logPath);
  for (const sample of search.samples) {
    await bringUpSearch(directory, sample);
    if (search.isMonitored) await bringUpMonitoring(directory, sample);
  }
  return 0;
}

/** A rejection is kept until the nodes are there: nothing awaits the bootstrap before. */
async function settled<T>(promise: Promise<T>): Promise<PromiseSettledResult<T>> {
  const [outcome] = await Promise.allSettled([promise]);
  return outcome;
}

type Bootstrapped = Pick<RunningCompanion, "wasRunning" | "logPath">;

/** Everything that the API alone allows: definitions, permissions, the operator, the sample plan. */
async function bootstrap(
  { directory, note }: ReadyApi,
  search: SearchOptions,
  signal: AbortSignal,
): Promise<Bootstrapped> {
  const kubectl = kubectlIn(directory);
  const withSearch = search.samples.length > 0;
  // All permissions together: the cluster is the user's own, and a first plan must not need a RoleBinding or a role for its kinds.
  await applyConfig(kubectl, ["crd", "rbac", "webhook"]);
  const definitions = join(repository, "config/crd");
  await kubectl(["wait", "--for=condition=Established", "--timeout=30s", "-f", definitions]);
  await applyConfig(kubectl, ["policy"]);
  const operator = await startOperator(directory, kubectl, { withSearch });
  if (operator.wasRunning) {
    note("The operator is running already.");
    return operator;
  }
  if (withSearch) await rememberSearch(directory);
  note(`The operator runs; its log is ${operator.logPath}`);
  note(`Plan ${await applySamplePlan(kubectl, signal)} is applied.`);
  return operator;
}

/** Applies directories of config/. */
async function applyConfig(kubectl: Kubectl, names: readonly string[]): Promise<void> {
  const directories = names.flatMap((name) => ["-f", join(repository, "config", name)]);
  await kubectl(["apply", "--server-side", ...directories]);
}

/**
 * The arguments that make real nodes know the image of the share driver from their first pod on; none where nodes will be simulated,
 * or the cluster exists already.
 */
async function shareDriverImage(name: string, profile: string | undefined): Promise<readonly string[]> {
  const mayHaveNodes = profile !== "control-plane" && process.getuid?.() === 0;
  if (!mayHaveNodes || existsSync(join(clusterDirectoryOf(name), "kubeconfig"))) return [];
  return ["--image", await makeProgramImage("share-driver")];
}

interface Understood {
  readonly name: string;
  readonly profile: string | undefined;
  readonly isHelpWanted: boolean;
}

/** The options of `local-cluster up` that matter here; `executeCommand` parses and checks them all. */
function understood(args: readonly string[]): Understood {
  const { values } = parseArgs({
    args: [...args],
    strict: false,
    options: {
      name: { type: "string" },
      profile: { type: "string" },
      help: { type: "boolean", short: "h" },
    },
  });
  return {
    name: typeof values["name"] === "string" ? values["name"] : "quartermaster",
    profile: typeof values["profile"] === "string" ? values["profile"] : undefined,
    isHelpWanted: values["help"] === true,
  };
}
