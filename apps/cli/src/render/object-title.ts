/** For people: `ConfigMap shop/settings`. */
export function objectTitle({ kind, namespace, name }: Titled): string {
  return namespace === undefined ? `${kind} ${name}` : `${kind} ${namespace}/${name}`;
}

interface Titled {
  readonly kind: string;
  readonly namespace?: string | undefined;
  readonly name: string;
}
