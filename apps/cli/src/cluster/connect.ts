import {
  type Client,
  createClient,
  createTransport,
  Discovery,
  loadConfig,
  type System,
} from "@quartermaster/runtime";

import type { Invocation } from "../input/invocation.ts";

/** An open connection to the person's cluster. */
export interface Cluster extends AsyncDisposable {
  readonly client: Client;
  readonly discovery: Discovery;
  /** Where the plan is. */
  readonly namespace: string;
}

/** Finds the cluster as kubectl does. Throws ConfigError that names file and field. */
export async function connect(invocation: Invocation, system: System): Promise<Cluster> {
  const [kubeconfigPath, context] = [invocation.text("kubeconfig"), invocation.text("context")];
  const config = await loadConfig({
    system,
    ...(kubeconfigPath === undefined ? {} : { kubeconfigPath }),
    ...(context === undefined ? {} : { context }),
  });
  const transport = createTransport({ config, system });
  const { impersonate } = config;
  return {
    client: createClient({ transport, ...(impersonate === undefined ? {} : { identity: impersonate }) }),
    discovery: new Discovery(transport, system),
    namespace: invocation.text("namespace") ?? config.namespace,
    [Symbol.asyncDispose]: async () => {
      await transport[Symbol.asyncDispose]();
    },
  };
}
