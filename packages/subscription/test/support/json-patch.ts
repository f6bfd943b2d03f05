import { type JsonPatchOperation, pointerKeys } from "@quartermaster/runtime";

/** Applies the operations as the API server does: strictly, in order, to a copy. */
export function applyPatch(object: unknown, patch: readonly JsonPatchOperation[] = []): unknown {
  let root = structuredClone(object);
  for (const operation of patch) {
    if (!isEdit(operation)) throw new Error(`unexpected ${operation.op}`);
    const keys = pointerKeys(operation.path);
    const last = keys.at(-1);
    if (last === undefined) {
      if (operation.op !== "remove") root = structuredClone(operation.value);
      continue;
    }
    const parent = keys.slice(0, -1).reduce<unknown>((location, key) => {
      if (typeof location !== "object" || location === null || !Object.hasOwn(location, key))
        throw new Error(`${operation.path} leads nowhere`);
      return (location as Record<string, unknown>)[key];
    }, root);
    if (Array.isArray(parent)) applyToList(parent, last, operation);
    else applyToMap(parent as Record<string, unknown>, last, operation);
  }
  return root;
}

type Edit = Exclude<JsonPatchOperation, { readonly from: string }>;

/** The only operations that we send. */
function isEdit(operation: JsonPatchOperation): operation is Edit {
  return ["add", "replace", "remove"].includes(operation.op);
}

function applyToList(list: unknown[], key: string, operation: Edit): void {
  const at = Number(key);
  if (!Number.isInteger(at) || at > list.length) throw new Error(`${operation.path} is out of range`);
  if (operation.op === "remove") list.splice(at, 1);
  else list.splice(at, operation.op === "add" ? 0 : 1, structuredClone(operation.value));
}

function applyToMap(map: Record<string, unknown>, key: string, operation: Edit): void {
  if (operation.op !== "add" && !Object.hasOwn(map, key)) throw new Error(`${operation.path} is not there`);
  if (operation.op === "remove") Reflect.deleteProperty(map, key);
  else Reflect.set(map, key, structuredClone(operation.value));
}
