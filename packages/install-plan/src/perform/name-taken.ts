/** An object created by another client has a name that is reserved for one of ours. */
export class NameTakenError extends Error {
  override readonly name = "NameTakenError";
  readonly code = "nameTaken";
}
