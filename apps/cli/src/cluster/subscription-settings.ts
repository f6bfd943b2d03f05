import { readFile } from "node:fs/promises";

import { classify, type Client } from "@quartermaster/runtime";
import { configMaps } from "@quartermaster/runtime/kinds";
import {
  readSubscriptionSettings,
  type SubscriptionSettings,
  SubscriptionSettingsError,
} from "@quartermaster/subscription";

import { CliError } from "../errors.ts";

/** Where the settings come from. */
export interface SettingsSource {
  /** A file with them; it wins. */
  readonly file: string | undefined;
  /** Where the operator is installed. */
  readonly operatorNamespace: string;
  readonly client: Pick<Client, "find">;
  readonly signal: AbortSignal;
  /** For what the user should know. */
  readonly note: (text: string) => void;
}

/** The ConfigMap that deploy/operator.yaml mounts as the file of `--subscription-config`. */
const configMap = { name: "quartermaster-subscription", key: "subscription.json" } as const;

/**
 * The settings of subscription injection: of the file, or else those of the operator in the cluster, or else the defaults, with a note.
 * Throws CliError for settings that the operator would refuse.
 */
export async function subscriptionSettings(source: SettingsSource): Promise<SubscriptionSettings> {
  if (source.file !== undefined) return parsed(await contentOf(source.file), source.file);
  const location = `ConfigMap ${source.operatorNamespace}/${configMap.name}`;
  const text = await clusterText(source);
  if (text.kind === "text") return parsed(text.content, location);
  source.note(
    `${location} ${text.kind === "missing" ? "does not exist" : "may not be read"}: the defaults are assumed`,
  );
  return readSubscriptionSettings({});
}

type ClusterText =
  | { readonly kind: "text"; readonly content: string }
  | { readonly kind: "missing" }
  | { readonly kind: "forbidden" };

async function clusterText({ client, operatorNamespace, signal }: SettingsSource): Promise<ClusterText> {
  try {
    const ref = { namespace: operatorNamespace, name: configMap.name };
    const content = (await client.find(configMaps, ref, { signal }))?.data?.[configMap.key];
    return content === undefined ? { kind: "missing" } : { kind: "text", content };
  } catch (error) {
    if (classify(error) !== "forbidden") throw error;
    return { kind: "forbidden" };
  }
}

async function contentOf(file: string): Promise<string> {
  try {
    return await readFile(file, "utf8");
  } catch {
    throw new CliError(`--subscription-config: ${file} cannot be read`);
  }
}

function parsed(content: string, location: string): SubscriptionSettings {
  try {
    return readSubscriptionSettings(JSON.parse(content));
  } catch (error) {
    const problem = error instanceof SubscriptionSettingsError ? error.message : "not JSON";
    throw new CliError(`settings of subscription injection in ${location}: ${problem}`);
  }
}
