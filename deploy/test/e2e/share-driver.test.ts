import { hasRealNodes } from "@quartermaster/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { ENTITLEMENT, ShareDriverCluster, sharePod, sources } from "./share-driver-cluster.ts";

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
    const token = "/var/run/secrets/kubernetes.io/serviceaccount/token";
    expect(await driver.exec("h1", `test -s ${token} && echo there`)).toBe("there\n");
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
});
