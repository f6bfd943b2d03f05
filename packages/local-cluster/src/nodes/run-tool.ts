import { spawn } from "node:child_process";

import { LocalClusterError } from "../errors.ts";
import { type System, toolPath } from "../system/system.ts";

/** A tool of the system (ip, mount, ctr …) that is run to its end. */
export interface ToolRequest {
  readonly command: string;
  readonly args: readonly string[];
  /** Sent to standard input. */
  readonly input?: string | undefined;
  /** Network namespace to run it in (a file made by `unshare --net=`). */
  readonly networkNamespace?: string | undefined;
  /** Milliseconds after which it is killed (default: two minutes). */
  readonly timeoutMs?: number | undefined;
}

/** How a tool ended. */
export interface ToolResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a tool; throws with its output unless it succeeded. Returns its standard output. */
export async function runTool(request: ToolRequest, system: System): Promise<string> {
  const { code, stdout, stderr } = await tryTool(request, system);
  if (code === 0) return stdout;
  const call = [request.command, ...request.args].join(" ");
  throw new LocalClusterError(
    "ToolFailed",
    `"${call}" failed with code ${code}: ${(stderr || stdout).trim().slice(-1000)}.`,
    "Mend what it names and start again.",
  );
}

/** Runs a tool and tells how it ended; a tool that is not there ends with 127. */
export async function tryTool(request: ToolRequest, system: System): Promise<ToolResult> {
  const { command, args, input = "", networkNamespace, timeoutMs = 120_000 } = request;
  const call =
    networkNamespace === undefined
      ? [command, ...args]
      : ["nsenter", `--net=${networkNamespace}`, "--", command, ...args];
  const [program = command, ...rest] = call;
  const { promise, resolve } = Promise.withResolvers<ToolResult>();
  const child = spawn(program, rest, { env: { ...system.env, PATH: toolPath(system) }, timeout: timeoutMs });
  const output = { stdout: "", stderr: "" };
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => (output.stdout += chunk));
  child.stderr.setEncoding("utf8").on("data", (chunk: string) => (output.stderr += chunk));
  child.stdin.on("error", () => undefined); // a tool that ends without reading tells why by its exit code
  child.once("error", (error) => resolve({ code: 127, stdout: "", stderr: String(error) }));
  child.once("close", (code) => resolve({ code: code ?? 137, ...output }));
  child.stdin.end(input);
  return await promise;
}
