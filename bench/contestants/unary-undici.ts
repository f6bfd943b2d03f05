import { Pool } from "undici";

import { serveUnary } from "./unary-load.ts";

/** What a response is taken for. */
interface Parsed {
  readonly metadata?: unknown;
}

await serveUnary(({ server, caPem, token, namespace }) => {
  const pool = new Pool(server, { connections: 32, allowH2: false, connect: { ca: caPem } });
  const authorization = `Bearer ${token}`;
  const collection = `/api/v1/namespaces/${namespace}/configmaps`;
  const send = async (method: "GET" | "PATCH", path: string, body?: string): Promise<Parsed> => {
    const headers = {
      authorization,
      accept: "application/json",
      ...(body === undefined ? {} : { "content-type": "application/apply-patch+yaml" }),
    };
    const response = await pool.request({ method, path, headers, ...(body === undefined ? {} : { body }) });
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the raw loop checks as little as it can
    return JSON.parse(await response.body.text()) as Parsed;
  };
  const query = "fieldManager=bench&force=true&fieldValidation=Strict";
  return {
    get: async (name) => await send("GET", `${collection}/${name}`),
    apply: async (object) =>
      await send("PATCH", `${collection}/${object.metadata.name}?${query}`, JSON.stringify(object)),
  };
});
process.exit(0);
