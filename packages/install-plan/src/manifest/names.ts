/** A DNS label: what namespaces, service accounts and versions are called. */
export function isDnsLabel(name: string): boolean {
  return name.length <= 63 && /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?$/.test(name);
}

/** A DNS subdomain as Kubernetes has it: 253 characters at most, and no limit for the labels between dots. */
export function isDnsSubdomain(name: string): boolean {
  return (
    name.length <= 253 && name.split(".").every((label) => /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?$/.test(label))
  );
}

/** A name that stays one segment of a path whatever it is encoded with: the least that any kind demands. */
export function isPathSegment(name: string): boolean {
  if (name === "" || name === "." || name === ".." || name.length > 253) return false;
  // Neither control characters nor halves of surrogates: names end up in logs and terminals.
  return !/[/%]|\p{C}/u.test(name);
}

/** `v1`, `apps/v1`. */
export function isApiVersion(apiVersion: string): boolean {
  const [version = "", group, ...rest] = apiVersion.split("/").toReversed();
  return rest.length === 0 && isDnsLabel(version) && (group === undefined || isDnsSubdomain(group));
}

/** `ConfigMap`; CRDs may use dashes. */
export function isKindName(kind: string): boolean {
  return /^[A-Za-z][-A-Za-z0-9]{0,62}$/.test(kind);
}
