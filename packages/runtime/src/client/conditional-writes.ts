import { classify } from "../errors.ts";
import type { Client } from "./client.ts";

/** `createIfAbsent` and `deleteIfPresent` of a client, from its plain writes. */
export function conditionalWrites(
  client: Pick<Client, "create" | "delete">,
): Pick<Client, "createIfAbsent" | "deleteIfPresent"> {
  return {
    createIfAbsent: async (kind, object, options) => {
      try {
        return await client.create(kind, object, options);
      } catch (error) {
        if (classify(error) === "alreadyExists") return undefined;
        throw error;
      }
    },
    deleteIfPresent: async (kind, ref, { skipIfChanged = false, ...options } = {}) => {
      try {
        await client.delete(kind, ref, options);
        return true;
      } catch (error) {
        const errorClass = classify(error);
        if (errorClass === "notFound" || (skipIfChanged && errorClass === "conflict")) return false;
        throw error;
      }
    },
  };
}
