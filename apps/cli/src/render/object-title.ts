import { cleanText } from "../output/clean-text.ts";

/** For people: `ConfigMap shop/settings`. Names of roles may hold anything. */
export function objectTitle({ kind, namespace, name }: Titled): string {
  return cleanText(namespace === undefined ? `${kind} ${name}` : `${kind} ${namespace}/${name}`, 400);
}

interface Titled {
  readonly kind: string;
  readonly namespace?: string | undefined;
  readonly name: string;
}
