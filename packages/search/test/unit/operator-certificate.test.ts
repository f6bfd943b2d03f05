import type { CertifiedKey } from "@quartermaster/runtime/certificates";
import { beforeAll, describe, expect, test } from "vitest";

import { operatorCertificate, unusedOperatorCertificate } from "../../src/material/operator-certificate.ts";
import type { Seen } from "../../src/seen.ts";
import { aSearchCluster } from "../a-search-cluster.ts";
import { aMaterial, aSeen } from "../support/a-seen.ts";
import { TestCa } from "../support/test-certificates.ts";

let ca: TestCa;
let other: TestCa;
let pair: CertifiedKey;

beforeAll(async () => {
  [ca, other] = await Promise.all([TestCa.create(), TestCa.create()]);
  const subject = { commonName: "who", organizationalUnits: ["team"], organizations: ["example"] };
  pair = await ca.issue({ subject, usages: ["client"], dnsNames: [] });
});

function seenWith(dns: readonly string[], trust: readonly string[], changes: Partial<Seen> = {}): Seen {
  const { security } = aSearchCluster();
  return aSeen({
    cluster: aSearchCluster({ security: { ...security, adminSecret: "own", adminDns: dns } }),
    material: aMaterial({ operatorClient: pair, foreignTrust: trust }),
    status: { clusterUuid: "u" },
    ...changes,
  });
}

const dn = "CN=who,OU=team,O=example";

describe("the author's client certificate", () => {
  test("is what the operator shows, once nodes take it for an administrator's", () => {
    const seen = seenWith([dn], [ca.caPem]);
    expect(operatorCertificate(seen)).toBe(pair);
    expect(unusedOperatorCertificate(seen)).toEqual([]);
  });

  test("may be declared with spaces after the commas", () => {
    expect(operatorCertificate(seenWith(["CN=who, OU=team, O=example"], [ca.caPem]))).toBe(pair);
  });

  test.for<[string, readonly string[], boolean, RegExp]>([
    [
      "its subject is no administrator's",
      ["CN=other"],
      true,
      /not in security\.tls\.http\.adminDn: add CN=who,OU=team,O=example/,
    ],
    ["nodes do not trust its CA", [dn], false, /No CA that the nodes trust/],
  ])("is not used and named where %s", ([, dns, isTrusted, why]) => {
    const seen = seenWith(dns, [isTrusted ? ca.caPem : other.caPem]);
    expect(operatorCertificate(seen)).toBeUndefined();
    expect(unusedOperatorCertificate(seen)).toEqual([
      { path: "spec.security.config.adminSecret", why: expect.stringMatching(why) as string },
    ]);
  });

  test("there is none", () => {
    const seen = aSeen();
    expect(operatorCertificate(seen)).toBeUndefined();
    expect(unusedOperatorCertificate(seen)).toEqual([]);
  });
});
