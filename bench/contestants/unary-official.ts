import { CoreV1Api, KubeConfig, PatchStrategy, setHeaderOptions } from "@kubernetes/client-node";

import { serveUnary } from "./unary-load.ts";

await serveUnary(({ kubeconfigPath, namespace }) => {
  const config = new KubeConfig();
  config.loadFromFile(kubeconfigPath);
  const api = config.makeApiClient(CoreV1Api);
  const options = setHeaderOptions("Content-Type", PatchStrategy.ServerSideApply);
  return {
    get: async (name) => await api.readNamespacedConfigMap({ name, namespace }),
    apply: async (body) => {
      const { name } = body.metadata;
      const facts = { fieldManager: "bench", force: true, fieldValidation: "Strict" };
      return await api.patchNamespacedConfigMap({ name, namespace, body, ...facts }, options);
    },
  };
});
process.exit(0);
