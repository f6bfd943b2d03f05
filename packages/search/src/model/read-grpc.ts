import { isBefore } from "./is-before.ts";
import { present } from "./pod-settings.ts";
import type { ClusterObject } from "./read-cluster.ts";
import type { Settings } from "./read-settings.ts";

/** gRPC transport of OpenSearch, beside HTTP. */
export interface GrpcSettings {
  /** First port that nodes listen on. */
  readonly port: number;
  /** Settings of the engine. */
  readonly settings: Settings;
}

type GrpcSpec = ClusterObject["spec"]["general"]["grpc"];

const defaultPorts = "9400-9500";

/** Reads `general.grpc`; undefined where it is off, or the engine has none that is ready for use. */
export function readGrpc(spec: GrpcSpec, version: string): GrpcSettings | undefined {
  if (spec?.enable !== true || isBefore(version, 3, 2)) return undefined;
  const ports = present(spec.port) ?? defaultPorts;
  const settings = {
    "aux.transport.types": ["transport-grpc"],
    "aux.transport.transport-grpc.port": ports,
    "grpc.host": spec.host,
    "grpc.bind_host": spec.bindHost,
    "grpc.publish_host": spec.publishHost,
    "grpc.publish_port": spec.publishPort,
    "grpc.netty.worker_count": spec.nettyWorkerCount,
    "grpc.netty.executor_count": spec.nettyExecutorCount,
    "grpc.netty.max_concurrent_connection_calls": spec.maxConcurrentConnectionCalls,
    "grpc.netty.max_connection_age": present(spec.maxConnectionAge),
    "grpc.netty.max_connection_idle": present(spec.maxConnectionIdle),
    "grpc.netty.keepalive_timeout": present(spec.keepaliveTimeout),
    "grpc.netty.max_msg_size": present(spec.maxMsgSize),
  };
  const given = Object.entries(settings).flatMap(([key, value]) =>
    value === undefined || (Array.isArray(value) && value.length === 0) ? [] : [[key, value] as const],
  );
  return { port: Number(/^\d+/.exec(ports)?.[0] ?? Number.NaN), settings: Object.fromEntries(given) };
}
