/** Text of the cluster without characters that would steer a terminal; long text is cut. */
export function cleanText(text: string, limit = 300): string {
  // oxlint-disable-next-line no-control-regex -- control characters are what it is about
  const clean = text.replaceAll(/[\u0000-\u001f\u007f-\u009f]+/g, " ");
  return clean.length <= limit ? clean : `${clean.slice(0, limit - 1)}…`;
}
