/** RFC 3339 in whole seconds, as the API server writes times. */
export function timestampOf(now: Date): string {
  return now.toISOString().replace(/\.\d+Z$/, "Z");
}
