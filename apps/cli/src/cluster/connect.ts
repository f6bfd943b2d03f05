import {
  type Client,
  createClient,
  createTransport,
  Discovery,
  impersonationHeaders,
  loadConfig,
  type Transport,
} from "@quartermaster/runtime";

import type { CommandContext } from "../command.ts";
import type { Invocation } from "../input/invocation.ts";

/** An open connection to the user's cluster. */
export interface Cluster extends AsyncDisposable {
  readonly client: Client;
  readonly discovery: Discovery;
  /** For paths that no kind has. Acts as the client does, impersonating where the kubeconfig says so. */
  readonly transport: Pick<Transport, "send">;
  /** Where the plan is. */
  readonly namespace: string;
}

/** Finds the cluster as kubectl does. Throws ConfigError that names file and field. */
export async function connect(
  invocation: Invocation,
  { system, terminal }: Pick<CommandContext, "system" | "terminal">,
): Promise<Cluster> {
  const [kubeconfigPath, context] = [invocation.text("kubeconfig"), invocation.text("context")];
  const config = await loadConfig({
    system,
    insecureSkipTlsVerify: invocation.flag("insecure-skip-tls-verify"),
    ...(kubeconfigPath === undefined ? {} : { kubeconfigPath }),
    ...(context === undefined ? {} : { context }),
  });
  if (config.tls.insecure) terminal.note(`warning: TLS verification is disabled for ${config.server}`);
  const transport = createTransport({ config, system });
  const { impersonate } = config;
  return {
    client: createClient({ transport, ...(impersonate === undefined ? {} : { identity: impersonate }) }),
    discovery: new Discovery(transport, system),
    transport: {
      send: async (request) =>
        await transport.send({
          ...request,
          headers: impersonate === undefined ? [] : impersonationHeaders(impersonate),
        }),
    },
    namespace: invocation.text("namespace") ?? config.namespace,
    [Symbol.asyncDispose]: async () => {
      await transport[Symbol.asyncDispose]();
    },
  };
}
