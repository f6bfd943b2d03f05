import { chmodSync, mkdirSync, rmSync } from "node:fs";
import { dirname } from "node:path";

import type { JsonValue } from "@bufbuild/protobuf";
import {
  type handleUnaryCall,
  Server,
  ServerCredentials,
  type ServiceDefinition,
  status,
  type UntypedServiceImplementation,
} from "@grpc/grpc-js";
import type { Log } from "@quartermaster/runtime";

import { Refusal } from "../refusal.ts";
import type { MethodSpec, ServiceSpec } from "./service-spec.ts";

/** Answers one request. Throws a Refusal for what is not carried out. */
export type HttpResponse = (request: JsonValue) => Promise<JsonValue> | JsonValue;

/** A service with a response for each of its methods. */
export interface ServedService {
  readonly spec: ServiceSpec;
  readonly responses: Readonly<Record<string, HttpResponse>>;
}

/** A gRPC server on a unix socket. `await using` stops it and removes the socket. */
export class SocketServer implements AsyncDisposable {
  readonly #server: Server;
  readonly #path: string;

  private constructor(server: Server, path: string) {
    this.#server = server;
    this.#path = path;
  }

  /** Serves on a new socket at `path`, for root only. A socket that was left there is replaced. */
  static async listen(path: string, services: readonly ServedService[], log: Log): Promise<SocketServer> {
    mkdirSync(dirname(path), { recursive: true });
    rmSync(path, { force: true });
    const server = new Server({ "grpc.max_receive_message_length": maxRequestBytes });
    for (const { spec, responses } of services)
      server.addService(definitionOf(spec), implementationOf(spec, responses, log));
    const { promise, resolve, reject } = Promise.withResolvers<undefined>();
    server.bindAsync(`unix:${path}`, ServerCredentials.createInsecure(), (error) => {
      if (error === null) resolve(undefined);
      else reject(error);
    });
    await promise;
    chmodSync(path, 0o600);
    return new SocketServer(server, path);
  }

  /** Lets calls in progress end, for at most 5 s; later ones are refused. */
  async [Symbol.asyncDispose](): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<undefined>();
    const deadline = AbortSignal.timeout(5_000);
    deadline.addEventListener("abort", () => {
      this.#server.forceShutdown();
    });
    this.#server.tryShutdown(() => {
      resolve(undefined);
    });
    await promise;
    rmSync(this.#path, { force: true });
  }
}

/** kubelet sends a few hundred bytes. */
const maxRequestBytes = 256 * 1024;

function definitionOf({ name, methods }: ServiceSpec): ServiceDefinition {
  return Object.fromEntries(
    Object.entries(methods).map(([method, spec]) => [method, methodDefinition(`/${name}/${method}`, spec)]),
  );
}

/** The same description serves the server and, in tests, a client. */
export function methodDefinition(path: string, { request, response }: MethodSpec): ServiceDefinition[string] {
  return {
    path,
    requestStream: false,
    responseStream: false,
    requestSerialize: (value: JsonValue) => request.encode(value),
    requestDeserialize: (bytes: Buffer) => request.decode(bytes),
    responseSerialize: (value: JsonValue) => response.encode(value),
    responseDeserialize: (bytes: Buffer) => response.decode(bytes),
  };
}

function implementationOf(
  { methods }: ServiceSpec,
  responses: ServedService["responses"],
  log: Log,
): UntypedServiceImplementation {
  return Object.fromEntries(
    Object.keys(methods).map((method): [string, handleUnaryCall<JsonValue, JsonValue>] => [
      method,
      ({ request }, respond) => {
        void respondToCall(async () => await responses[method]?.(request), { method, log }).then(
          ({ code, details, value }) => {
            respond(code === undefined ? null : { code, details }, value);
            return undefined;
          },
        );
      },
    ]),
  );
}

interface Responded {
  readonly code?: status;
  readonly details: string;
  readonly value?: JsonValue;
}

/** What is not a Refusal is a fault of ours: kubelet gets no details, which might hold anything. */
async function respondToCall(
  reply: () => Promise<JsonValue | undefined>,
  { method, log }: { readonly method: string; readonly log: Log },
): Promise<Responded> {
  try {
    const value = await reply();
    if (value === undefined) return { code: status.UNIMPLEMENTED, details: `${method} is not implemented` };
    return { details: "", value };
  } catch (error) {
    if (error instanceof Refusal) return { code: error.code, details: error.message };
    log.error("call failed", { method, err: error });
    return { code: status.INTERNAL, details: "internal error, see the log of the share driver" };
  }
}
