import { z } from "zod";

import type { EngineCall } from "./engine-client.ts";
import { EngineError } from "./engine-error.ts";
import { parseShape } from "./parse-shape.ts";

const acknowledgedShape = z.object({ acknowledged: z.boolean() });

/** HTTP 200 is not success: an engine that gives up waiting for its nodes responds with `acknowledged: false`. */
export function assertAcknowledged(call: EngineCall, value: unknown): void {
  if (parseShape(acknowledgedShape, value, call).acknowledged) return;
  throw new EngineError(`${call}: not every node has taken it in time`, { code: "timeout" });
}
