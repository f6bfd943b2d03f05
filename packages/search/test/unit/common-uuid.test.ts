import { expect, test } from "vitest";

import { commonUuid } from "../../src/formation/decide-bootstrap.ts";
import { engineFacts, identities } from "../support/a-seen.ts";

/** Of nodes n0, n1, …, each with the UUID that it reports; a dash for one that reports none. */
test.each([
  ["U", "U"],
  ["-", undefined],
  ["U -", undefined],
  ["U U", "U"],
  ["U V", undefined],
  ["U - -", undefined],
  ["U U -", "U"],
  ["U V V", undefined],
  ["V U U", undefined],
  ["U U - -", undefined],
  ["U U U -", "U"],
  ["U U U V", undefined],
])("%s: %s", (reported, want) => {
  const uuids = reported
    .split(" ")
    .map((uuid, at) => [`n${String(at)}`, uuid === "-" ? undefined : uuid] as const);
  const engine = engineFacts({ identities: identities(Object.fromEntries(uuids)) });
  expect(
    commonUuid(
      engine,
      uuids.map(([node]) => node),
    ),
  ).toBe(want);
});
