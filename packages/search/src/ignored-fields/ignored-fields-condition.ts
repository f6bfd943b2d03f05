import type { NamedField } from "@quartermaster/api";
import type { ConditionUpdate } from "@quartermaster/runtime";

import type { SearchAction } from "../search-action.ts";
import type { Seen } from "../seen.ts";

/** Type of the condition that names fields without effect. It is absent until there is one. */
export const fieldsIgnored = "FieldsIgnored";

/** Most fields that the condition names; a spec may repeat one in each of 64 pools. */
const mostFields = 100;

/** Names the fields of the spec that have no effect, with the reasons. */
export function ignoredFieldsCondition({
  ignored,
  status,
}: Pick<Seen, "ignored" | "status">): readonly ConditionUpdate[] {
  if (ignored.length > 0)
    return [{ type: fieldsIgnored, status: "True", reason: "WithoutEffect", message: messageOf(ignored) }];
  // A condition stays as it is until something else is said of it.
  if (conditionIn(status) === undefined) return [];
  const message = "Every field that is set has an effect.";
  return [{ type: fieldsIgnored, status: "False", reason: "AllHaveEffect", message }];
}

function conditionIn({ conditions = [] }: Seen["status"]): { readonly message: string } | undefined {
  return conditions.find(({ type }) => type === fieldsIgnored);
}

/** One sentence per reason, so that a field of many pools does not repeat it. */
function messageOf(ignored: readonly NamedField[]): string {
  const named = ignored.slice(0, mostFields);
  const reasons = [...new Set(named.map(({ why }) => why))];
  const sentences = reasons.map((reason) => {
    const paths = named.flatMap(({ path, why }) => (why === reason ? [path] : []));
    return `${paths.join(", ")}: ${reason}`;
  });
  const left = ignored.length - named.length;
  return [...sentences, ...(left === 0 ? [] : [`And ${String(left)} more.`])].join(" ");
}

/** An event each time the list changes, so once for each edit. */
export function ignoredFieldsEvents(seen: Pick<Seen, "ignored" | "status">): readonly SearchAction[] {
  const [condition] = ignoredFieldsCondition(seen);
  if (condition?.status !== "True" || conditionIn(seen.status)?.message === condition.message) return [];
  const paths = seen.ignored.slice(0, 10).map(({ path }) => path);
  const left = seen.ignored.length - paths.length;
  const more = left === 0 ? "" : ` and ${String(left)} more`;
  return [
    {
      kind: "record",
      event: {
        type: "Warning",
        reason: "IgnoredField",
        action: "ReadSpec",
        note: `Fields without effect: ${paths.join(", ")}${more}. Condition ${fieldsIgnored} names the reasons.`,
      },
    },
  ];
}
