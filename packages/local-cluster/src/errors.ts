/** Stable codes of everything that can go wrong on purpose; callers decide by code, never by text. */
export type LocalClusterErrorCode =
  | "ApiRefused"
  | "AssetMissing"
  | "AssetsUnavailable"
  | "BadUsage"
  | "BuildFailed"
  | "ComponentExited"
  | "InvalidNodes"
  | "NotLinux"
  | "NotReadyInTime"
  | "PathTooLong"
  | "PortTaken"
  | "PrerequisiteMissing"
  | "StateFolderFull"
  | "StateFolderNotWritable"
  | "StateFolderTaken"
  | "ToolFailed"
  | "UnsupportedVersion";

/** An error in one sentence, and its remedy for the user in another. */
export class LocalClusterError extends Error {
  override readonly name = "LocalClusterError";
  readonly code: LocalClusterErrorCode;
  readonly remedy: string;

  // oxlint-disable-next-line max-params -- what Error takes, in its order, with code and remedy beside the sentence they belong to
  constructor(code: LocalClusterErrorCode, problem: string, remedy: string, options?: ErrorOptions) {
    super(`${problem} ${remedy}`, options);
    this.code = code;
    this.remedy = remedy;
  }
}
