import { describe, expect, test } from "vitest";

import { subjectFlag } from "../../src/access/own-identity.ts";

describe("the operator's identity as a flag of kubectl create rolebinding", () => {
  test.each([
    {
      user: "system:serviceaccount:quartermaster:quartermaster-operator",
      flag: "--serviceaccount quartermaster:quartermaster-operator",
    },
    { user: "kubernetes-admin", flag: "--user 'kubernetes-admin'" },
    { user: "system:serviceaccount:odd", flag: "--user 'system:serviceaccount:odd'" },
  ])("[first-use/5] $user is $flag", ({ user, flag }) => {
    expect(subjectFlag(user)).toBe(flag);
  });
});
