import { type Client, classify, type Kind, type ObjectRef } from "@quartermaster/runtime";

/** Deletes an object at the end of its scope, whether or not it was ever made. */
export function removing(client: Client, kind: Kind, ref: ObjectRef): AsyncDisposable {
  return {
    [Symbol.asyncDispose]: async () => {
      try {
        await client.delete(kind, ref);
      } catch (error) {
        if (classify(error) !== "notFound") throw error;
      }
    },
  };
}
