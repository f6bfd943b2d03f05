import type { InstallPlan } from "@quartermaster/api";

type Status = NonNullable<InstallPlan["status"]>;

/** The condition of a type, if the status has one. */
export function conditionOf(
  status: Status | undefined,
  type: string,
): NonNullable<Status["conditions"]>[number] | undefined {
  return status?.conditions?.find((condition) => condition.type === type);
}
