import type { JsonValue } from "@bufbuild/protobuf";
import { Client, credentials, type ServiceError, status } from "@grpc/grpc-js";

import type { ServiceSpec } from "../../src/csi/service-spec.ts";
import { methodDefinition } from "../../src/csi/socket-server.ts";

/** How a call ended: with a response, or with gRPC's code and message. */
export type CallEnd = { readonly response: JsonValue } | { readonly code: string; readonly message: string };

/** A client of a socket, as kubelet is one. */
export class SocketClient implements Disposable {
  readonly #client: Client;

  constructor(path: string) {
    this.#client = new Client(`unix:${path}`, credentials.createInsecure());
  }

  /** Calls a method, with protobuf's JSON. */
  async call(service: ServiceSpec, method: string, request: JsonValue = {}): Promise<CallEnd> {
    const spec = service.methods[method];
    if (spec === undefined) throw new TypeError(`${service.name} has no ${method}`);
    const { path, requestSerialize, responseDeserialize } = methodDefinition(
      `/${service.name}/${method}`,
      spec,
    );
    const { promise, resolve } = Promise.withResolvers<CallEnd>();
    this.#client.makeUnaryRequest(
      path,
      requestSerialize,
      responseDeserialize,
      request,
      (error: ServiceError | null, response?: unknown) => {
        if (error === null) resolve({ response: response as JsonValue });
        else resolve({ code: status[error.code] ?? "", message: error.details });
      },
    );
    return await promise;
  }

  [Symbol.dispose](): void {
    this.#client.close();
  }
}
