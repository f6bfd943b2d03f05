import { identifyProcess, isAlive, readBootId } from "../process/process-identity.ts";

/** Names this process in a file or file name, so that others can tell whether its writer still lives. */
export function thisWriter(): string {
  const identity = identifyProcess(process.pid);
  if (identity === undefined) throw new Error("a running process has no identity in /proc");
  return `${identity.pid}-${identity.startTicks}-${bootMark()}`;
}

/** True while the process that wrote this name lives; false for anything that is no such name. */
export function isWriterAlive(writer: string): boolean {
  const [pid, startTicks, boot] = writer.split("-");
  if (pid === undefined || startTicks === undefined || boot !== bootMark()) return false;
  return isAlive({ pid: Number(pid), startTicks });
}

/** The pid in a writer's name, for messages. */
export function pidOf(writer: string): string {
  return writer.split("-")[0] ?? writer;
}

function bootMark(): string {
  return readBootId().replaceAll("-", "").slice(0, 8);
}
