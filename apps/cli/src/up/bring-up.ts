import { join } from "node:path";
import { parseArgs } from "node:util";

import {
  clusterFolderOf,
  executeCommand,
  LocalClusterError,
  type ReadyApi,
  type RunningCompanion,
} from "@quartermaster/local-cluster";

import type { CommandContext } from "../command.ts";
import { CliError } from "../errors.ts";
import { type ExitCode, exitCode } from "../exit-code.ts";
import { run } from "../run.ts";
import { installDriver, wordsForDriver } from "./install-driver.ts";
import { type Kubectl, kubectlIn } from "./kubectl.ts";
import { repository } from "./repository.ts";
import { bringUpMonitoring, monitoringWord } from "./search/bring-up-monitoring.ts";
import { bringUpSearch, rememberSearch } from "./search/bring-up-search.ts";
import { type SearchSample, searchSamples } from "./search/search-samples.ts";
import { withoutWith, wordsForSearch } from "./search/words-for-search.ts";
import { startOperator } from "./start-operator.ts";
import { entitled, sample, tryNext } from "./try-next.ts";

/**
 * What `make up` does: a local cluster, the operator beside it with the permissions we ship, and the sample plan until it is Ready.
 * Where the operator runs already, only what it needs is seen to and where to look is printed: an earlier run may have been broken
 * off. The words are those of `local-cluster up`, and `--with search` or `--with elasticsearch` for a search cluster as well,
 * `--with search,monitoring` for one that is monitored.
 */
export async function bringUp(words: readonly string[], context: CommandContext): Promise<number> {
  try {
    const { asked, rest } = withoutWith(words);
    const samples = asked.flatMap((word) => searchSamples.get(word) ?? []);
    const isMonitored = asked.includes(monitoringWord);
    const all = samples.length > 0 ? await wordsForSearch(rest, samples, { isMonitored }) : rest;
    return await bringUpWith(all, { ...context, samples, isMonitored });
  } catch (error) {
    if (!(error instanceof CliError) && !(error instanceof LocalClusterError)) throw error;
    context.terminal.note(`error: ${error.message}`);
    return error instanceof CliError ? error.code : exitCode.failed;
  }
}

interface UpContext extends CommandContext {
  /** Search clusters that are to be made. */
  readonly samples: readonly SearchSample[];
  /** Whether they are to be monitored. */
  readonly isMonitored: boolean;
}

async function bringUpWith(words: readonly string[], context: UpContext): Promise<number> {
  const { name, profile, isHelpWanted } = understood(words);
  const userId = process.getuid?.();
  const driver = isHelpWanted ? [] : await wordsForDriver({ name, profile, userId });
  const stop = new AbortController();
  const signal = AbortSignal.any([context.signal, stop.signal]);
  let begun: Promise<PromiseSettledResult<Bootstrapped>> | undefined;
  const begin = async (api: ReadyApi): Promise<PromiseSettledResult<Bootstrapped>> => {
    const [outcome] = await Promise.allSettled([bootstrap(api, { ...context, signal })]);
    return outcome;
  };
  // As soon as the API answers: nodes take longer, on a new machine by minutes.
  const onApiReady = (api: ReadyApi): void => {
    begun = begin(api);
  };
  const code = await executeCommand(["up", ...words, ...driver], {
    out: process.stdout,
    err: process.stderr,
    onApiReady,
  });
  if (code !== 0 || isHelpWanted) {
    stop.abort();
    await begun;
    return code;
  }
  const folder = clusterFolderOf(name);
  const note = (text: string): void => context.terminal.write(text);
  return await conclude(folder, await (begun ?? begin({ folder, note })), context);
}

/** Waits for the sample on nodes that are there by now, and reports what went wrong. */
async function conclude(
  folder: string,
  outcome: PromiseSettledResult<Bootstrapped>,
  context: UpContext,
): Promise<ExitCode> {
  if (outcome.status === "rejected") throw outcome.reason;
  const code = outcome.value.wasRunning ? exitCode.ok : await watchSample(folder, outcome.value, context);
  if (code !== exitCode.ok) return code;
  for (const each of context.samples) {
    await bringUpSearch(folder, each, {
      context,
      apply: async (file) => await applySample(kubectlIn(folder), context, file),
    });
    if (context.isMonitored) await bringUpMonitoring(folder, each, context);
  }
  return code;
}

type Bootstrapped = Pick<RunningCompanion, "wasRunning" | "logPath">;

/** Everything that the API alone allows: definitions, permissions, the operator, the sample plan. */
async function bootstrap({ folder, note }: ReadyApi, context: UpContext): Promise<Bootstrapped> {
  const kubectl = kubectlIn(folder);
  const withSearch = context.samples.length > 0;
  // All permissions at once: the cluster is the person's own, and a first plan must not need a RoleBinding or a role for its kinds.
  await applyFolders(kubectl, ["crd", "rbac", "webhook"]);
  await kindsServed(kubectl);
  await applyFolders(kubectl, ["policy"]);
  const operator = await startOperator(folder, kubectl, { withSearch });
  if (operator.wasRunning) {
    note("The operator is running already.");
    return operator;
  }
  if (withSearch) await rememberSearch(folder);
  note(`The operator runs; its log is ${operator.logPath}`);
  await applySample(kubectl, context);
  note(`Plan ${sample.plan} is applied.`);
  return operator;
}

async function watchSample(
  folder: string,
  operator: Bootstrapped,
  context: CommandContext,
): Promise<ExitCode> {
  const plan = [sample.plan, "-n", sample.namespace, "--kubeconfig", join(folder, "kubeconfig")];
  const code = await run(
    ["plan", "status", ...plan, "--watch", "--timeout", String(patienceSeconds)],
    context,
  );
  if (code !== exitCode.ok)
    throw new CliError(
      `plan ${sample.plan} is not ready; the operator's log may say why: ${operator.logPath}`,
    );
  const kubectl = kubectlIn(folder);
  const realNodes = await kubectl(["get", "nodes", "-l", "type!=kwok", "-o", "name"]);
  if (realNodes !== "") await installDriver(kubectl);
  await showEntitlements(kubectl, { context, hasRealNodes: realNodes !== "" });
  context.terminal.write(tryNext);
  return exitCode.ok;
}

const patienceSeconds = 180;

/**
 * For some seconds after a kind is served the API server's admission policies do not know it yet, and plans are refused with
 * "service unavailable". The policy comes first all the same, so that no plan is made without it; applying the sample is repeated.
 */
async function applySample(
  kubectl: Kubectl,
  { system, signal }: CommandContext,
  file = sample.file,
): Promise<void> {
  const end = system.monotonicMs() + admissionPatienceMs;
  for (;;) {
    try {
      await kubectl(["apply", "--server-side", "-f", file]);
      return;
    } catch (error) {
      if (!(error instanceof CliError) || system.monotonicMs() > end) throw error;
    }
    await system.sleep(300, signal);
  }
}

const admissionPatienceMs = 40_000;

/** A pod that asks for a Bundle, and its files as it sees them. Simulated pods have none. */
async function showEntitlements(
  kubectl: Kubectl,
  { context, hasRealNodes }: { readonly context: CommandContext; readonly hasRealNodes: boolean },
): Promise<void> {
  // The pod is refused until the webhook is registered: a policy keeps it from starting without its files.
  await applySample(kubectl, context, entitled.file);
  if (!hasRealNodes) return;
  const inNamespace = ["-n", entitled.namespace];
  await kubectl([...inNamespace, "wait", "--for=condition=Ready", `pod/${entitled.pod}`, "--timeout=50s"]);
  const listing = await kubectl([...inNamespace, "exec", entitled.pod, "--", "ls", "-l", entitled.folder]);
  const heading = `\nPod ${entitled.namespace}/${entitled.pod} has the files of its Bundle in ${entitled.folder}:\n`;
  context.terminal.write(heading + listing.trimEnd());
}

/** Folders of config/. */
async function applyFolders(kubectl: Kubectl, names: readonly string[]): Promise<void> {
  const folders = names.flatMap((name) => ["-f", join(repository, "config", name)]);
  await kubectl(["apply", "--server-side", ...folders]);
}

async function kindsServed(kubectl: Kubectl): Promise<void> {
  const definitions = join(repository, "config/crd");
  await kubectl(["wait", "--for=condition=Established", "--timeout=30s", "-f", definitions]);
}

interface Understood {
  readonly name: string;
  readonly profile: string | undefined;
  readonly isHelpWanted: boolean;
}

function understood(words: readonly string[]): Understood {
  const { values } = parseArgs({
    args: [...words],
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
