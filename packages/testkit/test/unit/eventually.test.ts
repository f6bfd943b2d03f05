import { expect, test } from "vitest";

import { eventually } from "../../src/index.ts";

test("gives what the probe gives once it gives something", async () => {
  let observations = 0;
  expect(await eventually(() => ((observations += 1) < 3 ? undefined : observations), { everyMs: 1 })).toBe(
    3,
  );
});

test("takes an error of the probe as not yet", async () => {
  let observations = 0;
  const probe = (): string => {
    observations += 1;
    if (observations < 2) throw new Error("not there");
    return "there";
  };
  expect(await eventually(probe, { everyMs: 1 })).toBe("there");
});

test("fails with the last state it saw and the last error as its cause", async () => {
  const attempt = eventually(
    (see) => {
      see({ ready: 1, of: 3 });
      throw new Error("still rolling");
    },
    { withinMs: 5, everyMs: 1 },
  );
  await expect(attempt).rejects.toThrow(/"ready": 1/);
  await expect(attempt).rejects.toMatchObject({ cause: { message: "still rolling" } });
});
