import { ConfigError } from "../errors.ts";
import type { Impersonation } from "./cluster-config.ts";
import type { UserEntry } from "./kubeconfig.ts";
import type { Located } from "./merge-kubeconfigs.ts";

/** As whom the user speaks; undefined when as itself. Groups, uid or extra without a user are refused, as by the server. */
export function impersonationOf({ value, file, field }: Located<UserEntry>): Impersonation | undefined {
  const { as: user = "" } = value;
  const rest = restOf(value);
  if (user !== "") return { user, ...rest };
  if (Object.keys(rest).length === 0) return undefined;
  throw new ConfigError("impersonation needs a user", { code: "configInvalid", file, field: `${field}.as` });
}

function restOf(entry: UserEntry): Omit<Impersonation, "user"> {
  const { "as-groups": groups, "as-uid": uid = "", "as-user-extra": extra } = entry;
  return {
    ...(groups.length === 0 ? {} : { groups }),
    ...(uid === "" ? {} : { uid }),
    ...(extra === undefined || extra === null ? {} : { extra }),
  };
}
