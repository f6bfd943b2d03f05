import type { Impersonation } from "../config/cluster-config.ts";

/** The headers that make a request somebody else's: name, value, name, value. */
export function impersonationHeaders({
  user,
  groups = [],
  uid,
  extra = {},
}: Impersonation): readonly string[] {
  return [
    "impersonate-user",
    user,
    ...groups.flatMap((group) => ["impersonate-group", group]),
    ...(uid === undefined ? [] : ["impersonate-uid", uid]),
    ...Object.entries(extra).flatMap(([key, values]) =>
      values.flatMap((value) => [`impersonate-extra-${encodeURIComponent(key.toLowerCase())}`, value]),
    ),
  ];
}
