import { fieldOf } from "@quartermaster/runtime";

import { quantityUnits } from "../model/quantity-units.ts";
import type { NodePool } from "../model/search-cluster.ts";

/** Options of the JVM for a pool: the author's; else half of the container's memory as heap, or 512 MiB. */
export function jvmOptions({ jvm, resources }: Pick<NodePool, "jvm" | "resources">): string {
  if (jvm !== undefined && jvm.trim() !== "") return jvm.trim();
  const heap = `${String(heapMebibytes(resources))}m`;
  return `-Xms${heap} -Xmx${heap}`;
}

/** Options that run commands, load agents, read options from files, or let others debug the engine: none of that is configuration. */
export function refusedJvmOptions(jvm: string): readonly string[] {
  return jvm.split(/\s+/).filter((option) => refused.some((pattern) => pattern.test(option)));
}

const refused = [
  /^-XX:OnError=/i,
  /^-XX:OnOutOfMemoryError=/i,
  /^-XX:Flags=/i,
  /^-XX:VMOptionsFile=/i,
  /^-agent(?:lib|path):/i,
  /^-javaagent:/i,
  /^-Xrun/i,
  /^-Xdebug/i,
  /^@/,
  /[`;|&<>]|\$\(/,
];

const mebibyte = 1024 ** 2;
const defaultHeap = 512;
/** Above it, the JVM's pointers double in size. */
const largestHeap = 31 * 1024;
const smallestHeap = 128;

function heapMebibytes(resources: NodePool["resources"]): number {
  const bytes = memoryBytes(resources, "limits") ?? memoryBytes(resources, "requests");
  if (bytes === undefined) return defaultHeap;
  return Math.min(largestHeap, Math.max(smallestHeap, Math.floor(bytes / 2 / mebibyte)));
}

function memoryBytes(resources: NodePool["resources"], field: "limits" | "requests"): number | undefined {
  const memory = fieldOf(fieldOf(resources, field), "memory");
  const text = typeof memory === "string" || typeof memory === "number" ? String(memory) : "";
  const [, digits, unit = ""] = /^(\d+(?:\.\d+)?)([kKMGTPE]i?|m)?$/.exec(text) ?? [];
  const factor = quantityUnits[unit];
  return digits === undefined || factor === undefined ? undefined : Number(digits) * factor;
}
