import { readFileSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

const folder = join(import.meta.dirname, "../../../../config/rbac");

test("the rights per namespace are given to the account that the operator has", () => {
  const accounts = readFileSync(join(folder, "account.yaml"), "utf8");
  const [, name = "", namespace = ""] =
    /kind: ServiceAccount\nmetadata:\n {2}name: (\S+)\n {2}namespace: (\S+)/.exec(accounts) ?? [];
  const limited = readFileSync(join(folder, "impersonation-limited.yaml"), "utf8");
  expect(limited).toMatch(new RegExp(`--serviceaccount ${namespace}:${name}$`, "m"));
});
