import { isJsonObject } from "@quartermaster/runtime";

/** Paths of all fields of a structural schema, `[]` for elements of lists; values of maps have none of their own. */
export function fieldPaths(schema: unknown, at = ""): readonly string[] {
  if (!isJsonObject(schema)) return [];
  const { properties, items } = schema;
  return [
    ...(isJsonObject(properties)
      ? Object.entries(properties).flatMap(([name, field]) => {
          const path = at === "" ? name : `${at}.${name}`;
          return [path, ...fieldPaths(field, path)];
        })
      : []),
    ...fieldPaths(items, `${at}[]`),
  ];
}

/** Those without fields below them: what an author writes values to. */
export function leavesOf(paths: readonly string[]): readonly string[] {
  return paths.filter(
    (path) => !paths.some((other) => other.startsWith(`${path}.`) || other.startsWith(`${path}[]`)),
  );
}
