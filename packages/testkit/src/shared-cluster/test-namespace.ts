import { randomBytes } from "node:crypto";

import type { ApiClient } from "@quartermaster/local-cluster";

/** A namespace of the test's own; disposing of it asks for its deletion and does not wait. */
export interface TestNamespace extends AsyncDisposable {
  readonly name: string;
}

/** Makes a namespace that no other test has. `stem` says which test it belongs to. */
export async function makeNamespace(api: ApiClient, stem = "test"): Promise<TestNamespace> {
  const name = `${stem}-${randomBytes(4).toString("hex")}`;
  await api.apply(`/api/v1/namespaces/${name}`, { apiVersion: "v1", kind: "Namespace", metadata: { name } });
  return {
    name,
    [Symbol.asyncDispose]: async () => {
      await api.send({ method: "DELETE", path: `/api/v1/namespaces/${name}` });
    },
  };
}
