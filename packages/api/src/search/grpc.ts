import { int32 } from "@quartermaster/runtime/schema";
import { z } from "zod";

const grpcText = z.string().max(256).optional();
/** gRPC transport of nodes. */
export const grpc = z
  .strictObject({
    enable: z.boolean().optional().describe("Whether the engine serves gRPC."),
    port: grpcText.describe("Port or range of ports to listen on."),
    publishPort: int32().optional().describe("Port that the node publishes to clients."),
    host: z.array(z.string()).optional().describe("Addresses to listen on and to publish."),
    bindHost: z.array(z.string()).optional().describe("Addresses to listen on."),
    publishHost: z.array(z.string()).optional().describe("Addresses that the node publishes to clients."),
    keepaliveTimeout: grpcText.describe(
      "Time after which a connection without a keepalive response is closed, e.g. 20s.",
    ),
    maxConnectionAge: grpcText.describe("Maximum age of a connection, e.g. 1h."),
    maxConnectionIdle: grpcText.describe("Maximum idle time of a connection, e.g. 10m."),
    maxMsgSize: grpcText.describe("Maximum size of a message, e.g. 10mb."),
    maxConcurrentConnectionCalls: int32()
      .optional()
      .describe("Maximum number of concurrent calls per connection."),
    nettyExecutorCount: int32().optional().describe("Number of threads that execute requests."),
    nettyWorkerCount: int32()
      .optional()
      .describe("Number of threads that read from and write to connections."),
  })
  .optional()
  .describe(
    "gRPC transport of OpenSearch 3.2 or later. It is plain text unless additionalConfig says otherwise. A change restarts the nodes one at a time.",
  );
