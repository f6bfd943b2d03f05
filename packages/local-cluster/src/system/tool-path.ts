import type { System } from "./system.ts";

/** The search path with the usual folders: a plain `su` leaves the administrator's out, and a guardian has none at all. */
export function toolPath(system: System): string {
  return [system.env["PATH"] ?? "", ...USUAL_FOLDERS].filter(Boolean).join(":");
}

const USUAL_FOLDERS = ["/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"];
