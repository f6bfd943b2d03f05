import { describe, expect, test } from "vitest";

import { conditionalWrites } from "../../src/client/conditional-writes.ts";
import { ApiError, type ErrorClass } from "../../src/errors.ts";
import { asLive } from "../../src/object/kube-object.ts";
import { configMaps } from "../support/kinds.ts";

const object = asLive({ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a", namespace: "n" } });
const preconditions = { uid: "u", resourceVersion: "7" };

/** A client whose writes fail with the error, or succeed without one. */
function aClient(errorClass?: ErrorClass): {
  readonly client: ReturnType<typeof conditionalWrites>;
  readonly sent: unknown[];
} {
  const sent: unknown[] = [];
  const write = async (options: unknown): Promise<void> => {
    sent.push(options);
    await Promise.resolve();
    if (errorClass !== undefined) throw new ApiError("refused", { class: errorClass, mayHaveActed: false });
  };
  const client = conditionalWrites({
    create: async (_kind, created, options) => {
      await write(options);
      return asLive(created);
    },
    delete: async (_kind, _ref, options) => await write(options),
  });
  return { client, sent };
}

describe("createIfAbsent", () => {
  const rows: readonly { name: string; errorClass?: ErrorClass; want: unknown }[] = [
    { name: "no object of the name: the created one", want: object },
    { name: "one exists: undefined", errorClass: "alreadyExists", want: undefined },
    { name: "refused: thrown", errorClass: "forbidden", want: "forbidden" },
    { name: "the namespace does not exist: thrown", errorClass: "notFound", want: "notFound" },
  ];
  test.each(rows)("$name", async ({ errorClass, want }) => {
    const { client, sent } = aClient(errorClass);
    const made = await client
      .createIfAbsent(configMaps, object, { dryRun: true })
      .catch((error: unknown) => (error instanceof ApiError ? error.class : error));
    expect(made).toEqual(want);
    expect(sent).toEqual([{ dryRun: true }]);
  });
});

describe("deleteIfPresent", () => {
  const rows: readonly { name: string; errorClass?: ErrorClass; skipIfChanged?: boolean; want: unknown }[] = [
    { name: "deleted: true", want: true },
    { name: "no such object: false", errorClass: "notFound", want: false },
    { name: "changed since: thrown", errorClass: "conflict", want: "conflict" },
    { name: "changed since, to be skipped: false", errorClass: "conflict", skipIfChanged: true, want: false },
    { name: "refused: thrown", errorClass: "forbidden", skipIfChanged: true, want: "forbidden" },
  ];
  test.each(rows)("$name", async ({ errorClass, skipIfChanged = false, want }) => {
    const { client, sent } = aClient(errorClass);
    const ref = { name: "a", namespace: "n" };
    const deleted = await client
      .deleteIfPresent(configMaps, ref, { preconditions, skipIfChanged })
      .catch((error: unknown) => (error instanceof ApiError ? error.class : error));
    expect(deleted).toBe(want);
    expect(sent).toEqual([{ preconditions }]);
  });
});
