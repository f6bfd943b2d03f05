import { realSystem } from "@quartermaster/runtime";
import { eventually } from "@quartermaster/testkit";
import { compare } from "bcryptjs";
import { describe, expect, test } from "vitest";

import { PasswordHasher } from "../../src/security-content/password-hasher.ts";

/** Accounts as `namespace/account`, and the order in which their hashes became ready. */
class Line {
  readonly ready: string[] = [];
  readonly hasher = new PasswordHasher({ system: realSystem(), rounds: 4 });

  take(namespace: string, account: string, version = "1"): string | undefined {
    const onReady = (): void => {
      this.ready.push(`${account} ${version}`);
    };
    const password = `${account}-${version}`;
    return this.hasher.take({ namespace, account, version, password, onReady });
  }
}

describe("[security/113] passwords are hashed one at a time, beside the reconciles", () => {
  test("a hash is announced when it is ready, given out once, and is that of the password", async () => {
    const line = new Line();
    expect(line.take("a", "admin")).toBeUndefined();
    expect(line.take("a", "admin")).toBeUndefined();
    await eventually(() => line.ready.length > 0);
    expect(line.ready).toEqual(["admin 1"]);
    const made = line.take("a", "admin") ?? "";
    expect(await compare("admin-1", made)).toBe(true);
    expect(line.take("a", "admin")).toBeUndefined();
  });

  test("a namespace with 500 waiting accounts does not keep another one waiting", async () => {
    const line = new Line();
    for (let at = 0; at < 500; at += 1) line.take("storm", `s${String(at)}`);
    line.take("other", "bystander");
    await eventually(() => line.ready.includes("bystander 1"));
    expect(line.ready.indexOf("bystander 1")).toBeLessThanOrEqual(2);
  });

  test("accounts of one namespace, and those of two, wait beside each other: each gets its own hash", async () => {
    const line = new Line();
    const accounts = ["a admin", "a metrics", "b admin-of-b", "a last"].map((text) => text.split(" "));
    for (const [namespace = "", account = ""] of accounts) line.take(namespace, account);
    await eventually(() => line.ready.length === accounts.length);
    for (const [namespace = "", account = ""] of accounts)
      expect(await compare(`${account}-1`, line.take(namespace, account) ?? "")).toBe(true);
  });

  test("a password that changes while its hash is being made is hashed again", async () => {
    const line = new Line();
    line.take("a", "admin", "1");
    line.take("a", "admin", "2");
    await eventually(() => line.ready.includes("admin 2"));
    expect(await compare("admin-2", line.take("a", "admin", "2") ?? "")).toBe(true);
  });

  test("of a password that changes while it waits only the newest is hashed; an older hash is not given out", async () => {
    const line = new Line();
    line.take("a", "first");
    for (let at = 1; at <= 50; at += 1) line.take("a", "edited", String(at));
    await eventually(() => line.ready.length === 2);
    expect(line.ready).toEqual(["first 1", "edited 50"]);
    expect(line.take("a", "edited", "51")).toBeUndefined();
    await eventually(() => line.ready.includes("edited 51"));
    expect(await compare("edited-51", line.take("a", "edited", "51") ?? "")).toBe(true);
  });
});
