/** The code of a system call's error (`ENOENT`, …); empty for anything else. */
export function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "";
}

/** True when writing to a file went wrong, as opposed to what a network did. */
export function isFileError(error: unknown): boolean {
  return (
    error instanceof Error && "syscall" in error && ["write", "open", "mkdir"].includes(String(error.syscall))
  );
}
