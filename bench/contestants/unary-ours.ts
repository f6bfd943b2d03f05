import { createClient, createTransport, loadConfig, realSystem } from "@quartermaster/runtime";

import { configMaps } from "./kinds.ts";
import { serveUnary } from "./unary-load.ts";

await serveUnary(async ({ kubeconfigPath, namespace }) => {
  const system = realSystem();
  const transport = createTransport({ config: await loadConfig({ system, kubeconfigPath }), system });
  const client = createClient({ transport });
  return {
    get: async (name) => await client.get(configMaps, { name, namespace }),
    apply: async (object) => await client.apply(configMaps, object, { fieldManager: "bench", force: true }),
  };
});
process.exit(0);
