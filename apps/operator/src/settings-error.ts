/** A flag or variable that cannot be used, with what would do. */
export class SettingsError extends Error {
  override readonly name = "SettingsError";
  readonly code = "invalidSettings";
}
