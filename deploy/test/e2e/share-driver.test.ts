import { createHash, randomBytes } from "node:crypto";

import { eventually, hasRealNodes, parseAuditLines } from "@quartermaster/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import {
  accessTo,
  DRIVER_USER,
  ENTITLEMENT,
  REPOSITORIES,
  secret,
  ShareDriverCluster,
  shareOf,
  sharePod,
  sources,
  TOKEN,
} from "./share-driver-cluster.ts";

/** Pods of one round of AC-H8. */
const podCount = process.env["QM_CAMPAIGN"] === "1" ? 200 : 20;

describe.runIf(hasRealNodes())("the share driver on a real kubelet", () => {
  let driver: ShareDriverCluster;

  beforeAll(async () => {
    driver = await ShareDriverCluster.start();
  });

  afterAll(async () => {
    await driver?.[Symbol.asyncDispose]();
  });

  test("[subscription-injection/AC-H1] the file is readable in the container, and so is the account's token", async () => {
    await driver.share("one", { "1.pem": "certificate" });
    await driver.apply(sharePod("h1", { attributes: { share: "one" } }));
    await driver.untilReady("h1");
    expect(await driver.exec("h1", `cat ${ENTITLEMENT}/1.pem`)).toBe("certificate");
    expect(await driver.exec("h1", `test -s ${TOKEN} && echo there`)).toBe("there\n");
  });

  test("[subscription-injection/AC-H2] two shares become files of one directory", async () => {
    await driver.share("left", { "left.pem": "l" });
    await driver.share("right", { "right.pem": "r" });
    await driver.apply(sharePod("h2", { attributes: sources("left", "right") }));
    await driver.untilReady("h2");
    expect(await driver.exec("h2", `ls ${ENTITLEMENT}; cat ${ENTITLEMENT}/*`)).toBe(
      "left.pem\nright.pem\nlr",
    );
  });

  test("entitlements, repositories of a ConfigMap and the token are readable together", async () => {
    const repositories = { "redhat.repo": "[rhel]" };
    await driver.share("repositories", {}, repositories);
    const pod = sharePod("h3", { attributes: { share: "one" }, repositories: { share: "repositories" } });
    await driver.apply(pod);
    await driver.untilReady("h3");
    expect(await driver.exec("h3", `cat ${ENTITLEMENT}/1.pem ${REPOSITORIES}/redhat.repo`)).toBe(
      "certificate[rhel]",
    );
    expect(await driver.exec("h3", `test -s ${TOKEN} && echo there`)).toBe("there\n");
  });

  test("[subscription-injection/AC-H4] an account without permission is refused, and the event names the Share and the account", async () => {
    await driver.apply(secret("closed", { key: "canary-value" }), shareOf("closed"));
    await driver.apply(sharePod("h4", { attributes: { share: "closed" } }));
    const message = await driver.untilRefused("h4");
    expect(message).toContain("PermissionDenied");
    expect(message).toContain(
      'service account "default" in namespace "app" is not permitted to use Share "closed"',
    );
    expect(message).not.toContain("canary-value");
    await driver.deletePods("h4");
  });

  test("[subscription-injection/AC-H5] an edited Secret reaches the running pod, never half of each", async () => {
    await driver.share("pair", { a: "0", b: "0" });
    await driver.apply(sharePod("h5", { attributes: { share: "pair" } }));
    await driver.untilReady("h5");
    const readPairs = `for i in $(seq 400); do cd ${ENTITLEMENT}/..data && echo $(cat a b 2>/dev/null); sleep 0.02; done`;
    const reading = driver.exec("h5", readPairs);
    for (let round = 1; round <= 5; round += 1)
      await driver.apply(secret("pair", { a: String(round), b: String(round) }));
    const pairs = (await reading).split("\n").filter((line) => line.length === 2);
    expect(pairs.filter(([a, b]) => a !== b)).toEqual([]);
    expect(pairs.length).toBeGreaterThan(100);
    await eventually(async (see) => see(await driver.exec("h5", `cat ${ENTITLEMENT}/a`)) === "5", {
      withinMs: 90_000,
    });
  });

  test("a key that is added appears and one that is removed goes; a conflict leaves everything as it is", async () => {
    await driver.apply(secret("left", { "new.pem": "n" }));
    await eventually(
      async (see) => see(await driver.exec("h2", `ls ${ENTITLEMENT}`)) === "new.pem\nright.pem\n",
    );
    await driver.apply(secret("left", { "right.pem": "x" }));
    await eventually(async (see) => see(await driver.driverLog()).includes("KeyConflict"));
    expect(await driver.exec("h2", `cat ${ENTITLEMENT}/*`)).toBe("nr");
  });

  test("a running pod keeps its files when the Share and the permission no longer exist; a new one is refused", async () => {
    await driver.share("leaving", { key: "kept" });
    await driver.apply(sharePod("h6", { attributes: { share: "leaving" } }));
    await driver.untilReady("h6");
    await driver.kubectl("delete", "share", "leaving");
    await driver.kubectl("-n", "app", "delete", "rolebinding", "use-leaving");
    await driver.apply(sharePod("h6-new", { attributes: { share: "leaving" } }));
    expect(await driver.untilRefused("h6-new")).toContain("PermissionDenied");
    expect(await driver.exec("h6", `cat ${ENTITLEMENT}/key`)).toBe("kept");
    await driver.kubectl("-n", "source", "delete", "secret", "leaving");
    await driver.deletePods("h6-new");
    expect(await driver.exec("h6", `cat ${ENTITLEMENT}/key`)).toBe("kept");
  });

  test("[subscription-injection/AC-H7] a killed driver leaves running pods their content, and continues refreshing", async () => {
    await driver.killDriver();
    expect(await driver.exec("h1", `cat ${ENTITLEMENT}/1.pem`)).toBe("certificate");
    await driver.apply(secret("one", { "1.pem": "renewed" }));
    await eventually(async (see) => see(await driver.exec("h1", `cat ${ENTITLEMENT}/1.pem`)) === "renewed", {
      withinMs: 90_000,
    });
    await driver.untilDriverReady();
    await driver.apply(secret("one", { "1.pem": "again" }));
    await eventually(async (see) => see(await driver.exec("h1", `cat ${ENTITLEMENT}/1.pem`)) === "again", {
      withinMs: 5_000,
    });
    expect(await driver.exec("h6", `cat ${ENTITLEMENT}/key`)).toBe("kept");
  });

  test("[subscription-injection/AC-H7] a restarted kubelet registers the driver again and takes up its volumes", async () => {
    const [node] = driver.cluster.nodes;
    await node?.kubelet.kill();
    await node?.kubelet.restart();
    await driver.apply(sharePod("h7", { attributes: { share: "one" } }));
    await driver.untilReady("h7");
    expect(await driver.exec("h7", `cat ${ENTITLEMENT}/1.pem`)).toBe("again");
    expect(await driver.exec("h6", `cat ${ENTITLEMENT}/key`)).toBe("kept");
    await driver.deletePods("h7");
  });

  test.each([
    { name: "unknown-share", attributes: { share: "nowhere" }, says: 'Share "nowhere" not found' },
    { name: "missing-secret", attributes: { share: "hollow" }, says: 'behind Share "hollow" does not exist' },
    {
      name: "both-attributes",
      attributes: { share: "one", ...sources("one") },
      says: "share and sources exclude each other",
    },
    { name: "writable", attributes: { share: "one" }, readOnly: false, says: "must have readOnly: true" },
  ])("[subscription-injection/AC-H9] $name is refused with a clear message", async ({ says, ...pod }) => {
    await driver.apply(shareOf("hollow"), ...accessTo("hollow"), ...accessTo("nowhere"));
    await driver.apply(sharePod(pod.name, pod));
    expect(await driver.untilRefused(pod.name)).toContain(says);
    const uid = await driver.kubectl("-n", "app", "get", "pod", pod.name, "-o", "jsonpath={.metadata.uid}");
    expect(driver.mounts().filter((line) => line.includes(uid))).toEqual([]);
    await driver.deletePods(pod.name);
  });

  test("[subscription-injection/AC-H10] the same key in two shares is refused, with its name", async () => {
    await driver.share("first", { "same.pem": "1" });
    await driver.share("second", { "same.pem": "2" });
    await driver.apply(sharePod("h10", { attributes: sources("first", "second") }));
    expect(await driver.untilRefused("h10")).toContain(
      'key "same.pem" is in Share "first" and in Share "second"',
    );
    await driver.deletePods("h10");
  });

  test("[subscription-injection/AC-H12] bytes arrive as they are: not UTF-8, empty, 1 MiB", async () => {
    const files = {
      broken: Buffer.from([0xff, 0xfe, 0x00, 0x80, 0x0a]),
      empty: "",
      large: randomBytes(1024 * 1024 - 5),
    };
    // Applied objects are kept twice while kubectl applies them; a create is not.
    await driver.create(secret("bytes", files));
    await driver.apply(shareOf("bytes"), ...accessTo("bytes"));
    await driver.apply(sharePod("h12", { attributes: { share: "bytes" } }));
    await driver.untilReady("h12");
    const sums = Object.values(files).map((bytes) => createHash("sha256").update(bytes).digest("hex"));
    const names = Object.keys(files).map((name) => `${ENTITLEMENT}/${name}`);
    expect(await driver.exec("h12", `sha256sum ${names.join(" ")} | cut -d" " -f1`)).toBe(
      `${sums.join("\n")}\n`,
    );
  });

  test("[subscription-injection/AC-H13] an ephemeral debug container sees the same directory", async () => {
    await driver.debug("h1");
    await eventually(
      async (see) => see(await driver.kubectl("-n", "app", "logs", "h1", "-c", "debugger")) === "again",
    );
  });

  test("[subscription-injection/AC-H8] pods that come and go leave no mount, no directory and no record", async () => {
    await driver.share("crowd", { key: "value" });
    const names = Array.from({ length: podCount }, (_, index) => `crowd-${index}`);
    for (let start = 0; start < names.length; start += 20) {
      const round = names.slice(start, start + 20);
      await driver.apply(...round.map((name) => sharePod(name, { attributes: { share: "crowd" } })));
      await driver.untilReady(...round);
      expect(driver.records().length).toBeGreaterThanOrEqual(round.length);
      await driver.deletePods(...round);
    }
    const { pods, volumes } = await driver.volumesInUse();
    await eventually((see) => see(driver.mounts()).length === volumes);
    await eventually((see) => see(driver.records()).length === volumes);
    await eventually((see) => see(driver.volumeDirectories()).length === pods, { withinMs: 120_000 });
  });

  test("[subscription-injection/AC-H11] nothing was refused to the driver, and no Secret was listed", () => {
    const lines = driver.auditLines();
    const own = lines.split("\n").filter((line) => line.includes(`"username":"${DRIVER_USER}"`));
    expect(own.filter((line) => line.includes('"code":403'))).toEqual([]);
    const requests = parseAuditLines(own.join("\n"));
    expect(requests.length).toBeGreaterThan(50);
    expect(requests.filter(({ verb }) => !["get", "watch", "create"].includes(verb))).toEqual([]);
    const written = requests.filter(({ verb }) => verb === "create").map(({ resource }) => resource);
    expect(new Set(written)).toEqual(new Set(["subjectaccessreviews"]));
  });

  test("its log contains no value", async () => {
    const log = await driver.driverLog();
    for (const value of ["certificate", "renewed", "canary-value", "kept"]) expect(log).not.toContain(value);
  });

  test("[local-cluster/LC-28] a cluster with the driver and its mounts is stopped without leaving anything", async () => {
    expect(driver.mounts()).not.toEqual([]);
    expect(driver.traces()).not.toEqual([]);
    await driver.cluster.stop();
    expect(driver.traces()).toEqual([]);
  });
});
