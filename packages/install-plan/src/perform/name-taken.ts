/** An object that somebody else made stands under a name that is reserved for one of ours. */
export class NameTakenError extends Error {
  override readonly name = "NameTakenError";
  readonly code = "nameTaken";
}
