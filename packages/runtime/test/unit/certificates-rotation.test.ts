import { X509Certificate } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";

import { describe, expect, test } from "vitest";

import { CertificateFiles } from "../../src/certificates/certificate-files.ts";
import { issueCa, issueCertificate } from "../../src/certificates/issue-certificate.ts";
import { readCaSet, secretOf } from "../../src/certificates/keep-ca-set.ts";
import { isPair } from "../../src/certificates/read-certificate.ts";
import {
  type CaSet,
  type Ca,
  bundleOf,
  nextRotationMs,
  renewalMs,
  rotationStep,
  signerOf,
} from "../../src/certificates/rotation.ts";
import { VirtualSystem } from "../../src/testing/virtual-system.ts";
import { makeTempDirectory } from "../support/temp-directory.ts";
import { makeTestCertificate } from "../support/test-certificate.ts";

const times = { caMs: 3_000, servingMs: 300, propagationMs: 100, retirementMs: 300 };

function ca(name: string, announcedMs: number): Ca {
  return { certificatePem: `${name}\n`, keyPem: "", announcedMs, expiresMs: announcedMs + 3_000 };
}

const old = ca("old", 0);
const fresh = ca("fresh", 2_000);
const both: CaSet = { newest: fresh, previous: old };

test.each([
  { given: "::1", want: "0:0:0:0:0:0:0:1" },
  { given: "fd00:10:96::a", want: "FD00:10:96:0:0:0:0:A" },
  { given: "2001:db8:1:2:3:4:5:6", want: "2001:DB8:1:2:3:4:5:6" },
  { given: "1::", want: "1:0:0:0:0:0:0:0" },
  { given: "::ffff:10.0.0.1", want: "0:0:0:0:0:FFFF:A00:1" },
])("a serving certificate speaks for $given", async ({ given, want }) => {
  const validity = { notBeforeMs: 0, notAfterMs: 3_600_000 };
  const issuer = await issueCa({ subject: { commonName: "authority" }, serial: "01", validity });
  const names = { dnsNames: [], ipAddresses: ["10.0.0.1", given] };
  const cert = await issueCertificate(issuer, {
    subject: { commonName: "leaf" },
    usages: ["server"],
    serial: "02",
    validity,
    ...names,
  });
  const { subjectAltName } = new X509Certificate(cert.certificatePem);
  expect(subjectAltName).toBe(`IP Address:10.0.0.1, IP Address:${want}`);
});

test.each(["fe80::1%eth0", "localhost", ""])("%j is no address to serve", async (address) => {
  const validity = { notBeforeMs: 0, notAfterMs: 3_600_000 };
  const issuer = await issueCa({ subject: { commonName: "authority" }, serial: "01", validity });
  const names = { dnsNames: [], ipAddresses: [address] };
  await expect(
    issueCertificate(issuer, {
      subject: { commonName: "leaf" },
      usages: ["server"],
      serial: "02",
      validity,
      ...names,
    }),
  ).rejects.toThrow(RangeError);
});

describe("the rotation of CAs", () => {
  const rows = [
    { name: "a young CA is kept", given: { newest: old }, nowMs: 1_999, step: "keep", signer: old },
    {
      name: "after two thirds another is announced",
      given: { newest: old },
      nowMs: 2_000,
      step: "announce",
      signer: old,
    },
    {
      name: "the new one does not sign before it is known",
      given: both,
      nowMs: 2_099,
      step: "keep",
      signer: old,
    },
    { name: "the new one signs once it is known", given: both, nowMs: 2_100, step: "keep", signer: fresh },
    {
      name: "the old one stays trusted until all leaves are renewed",
      given: both,
      nowMs: 2_399,
      step: "keep",
      signer: fresh,
    },
    { name: "the old one is retired", given: both, nowMs: 2_400, step: "retire", signer: fresh },
    {
      name: "the first of all signs immediately",
      given: { newest: fresh },
      nowMs: 2_000,
      step: "keep",
      signer: fresh,
    },
    {
      name: "an expired one signs nothing",
      given: { newest: ca("late", 3_050), previous: old },
      nowMs: 3_060,
      step: "keep",
      signer: ca("late", 3_050),
    },
  ] as const;

  test.each(rows)("[runtime/RT-25] $name", ({ given, nowMs, step, signer }) => {
    expect(rotationStep(given, times, nowMs)).toBe(step);
    expect(signerOf(given, times, nowMs)).toEqual(signer);
  });

  test("[runtime/RT-25] the bundle is old and new", () => {
    expect(bundleOf(both)).toBe("old\nfresh\n");
    expect(bundleOf({ newest: fresh })).toBe("fresh\n");
  });

  test("[runtime/RT-25] the next change is known beforehand", () => {
    expect(nextRotationMs({ newest: old }, times, 0)).toBe(2_000);
    expect(nextRotationMs(both, times, 2_000)).toBe(2_100);
    expect(nextRotationMs(both, times, 2_100)).toBe(2_400);
  });
});

describe("issued certificates", () => {
  const validity = { notBeforeMs: Date.UTC(2026, 0, 1), notAfterMs: Date.UTC(2060, 0, 1) };

  test("verify against their CA, carry their names and survive a Secret", async () => {
    const issued = await issueCa({ subject: { commonName: "a authority" }, serial: "01", validity });
    const cert = await issueCertificate(issued, {
      subject: { commonName: "a" },
      usages: ["server"],
      serial: "02",
      validity,
      dnsNames: ["webhook.ns.svc"],
      ipAddresses: ["127.0.0.1"],
    });
    const certificate = new X509Certificate(cert.certificatePem);
    expect(isPair(cert)).toBe(true);
    expect(isPair({ ...cert, keyPem: issued.keyPem })).toBe(false);
    expect(certificate.checkIssued(new X509Certificate(issued.certificatePem))).toBe(true);
    expect(certificate.checkHost("webhook.ns.svc")).toBe("webhook.ns.svc");
    expect(certificate.checkIP("127.0.0.1")).toBe("127.0.0.1");
    expect(certificate.ca).toBe(false);
    expect(new Date(certificate.validTo).getTime()).toBe(validity.notAfterMs);
    const kept = {
      newest: { ...issued, announcedMs: validity.notBeforeMs + 300_000, expiresMs: validity.notAfterMs },
    };
    expect(readCaSet(secretOf({ namespace: "n", name: "s" }, kept))).toEqual(kept);
  });

  test("a Secret with half a CA holds none", () => {
    const data = {
      "tls.crt": Buffer.from(makeTestCertificate("x").certPem).toString("base64"),
      "tls.key": "",
    };
    expect(readCaSet({ apiVersion: "v1", kind: "Secret", metadata: { name: "s" }, data })).toBeUndefined();
  });
});

describe("supplied files", () => {
  test("are read again when they change, and a half-written pair changes nothing", async () => {
    await using directory = await makeTempDirectory();
    const [certificatePath, keyPath] = [join(directory.path, "tls.crt"), join(directory.path, "tls.key")];
    const system = new VirtualSystem();
    let failures = 0;
    const observer = { certificateReadFailed: () => (failures += 1) };
    const files = new CertificateFiles({ system, certificatePath, keyPath, observer });
    let changes = 0;
    using stack = new DisposableStack();
    stack.use(files.onChange(() => (changes += 1)));
    expect(await files.refresh()).toBe(false);
    const one = makeTestCertificate("one");
    const other = makeTestCertificate("other");
    await writeFile(certificatePath, one.certPem);
    await writeFile(keyPath, one.keyPem);
    expect(await files.refresh()).toBe(true);
    await files.refresh();
    await writeFile(certificatePath, other.certPem);
    expect(await files.refresh()).toBe(false);
    expect(files.current()?.certificatePem).toBe(one.certPem);
    await writeFile(keyPath, other.keyPem);
    await files.refresh();
    expect(files.current()?.certificatePem).toBe(other.certPem);
    expect({ changes, failures }).toEqual({ changes: 2, failures: 2 });
  });
});

describe("[faults/17] a clock that jumps by a day, again and again", () => {
  const dayMs = 24 * 60 * 60_000;
  const shipped = {
    caMs: 365 * dayMs,
    servingMs: 30 * dayMs,
    propagationMs: 5 * 60_000,
    retirementMs: 30 * dayMs,
  };
  const begin: Ca = {
    certificatePem: "first\n",
    keyPem: "",
    announcedMs: 0,
    expiresMs: shipped.caMs,
  };
  /** Plays the jumps, and does each time what the rotation decides. */
  const played = (startMs: number, jumps: readonly number[]) => {
    let set: CaSet = { newest: begin };
    const steps: string[] = [];
    const unsigned: number[] = [];
    for (const jumpMs of jumps) {
      const nowMs = startMs + jumpMs;
      const step = rotationStep(set, shipped, nowMs);
      if (step === "announce")
        set = {
          newest: {
            ...begin,
            certificatePem: "next\n",
            announcedMs: nowMs,
            expiresMs: nowMs + shipped.caMs,
          },
          previous: set.newest,
        };
      if (step === "retire") set = { newest: set.newest };
      if (step !== "keep") steps.push(step);
      if (signerOf(set, shipped, nowMs).expiresMs <= nowMs) unsigned.push(nowMs);
    }
    return { steps, unsigned };
  };
  const toAndFro = Array.from({ length: 40 }, (_, at) => [dayMs, 0, -dayMs, 0][at % 4] ?? 0);
  const dueMs = (shipped.caMs * 2) / 3;

  test.each([
    { name: "in the middle of its life", startMs: dueMs / 2, want: [] },
    { name: "half a day before the rotation is due", startMs: dueMs - dayMs / 2, want: ["announce"] },
    { name: "when it is due", startMs: dueMs, want: ["announce"] },
    { name: "a month after the announcement", startMs: dueMs + 31 * dayMs, want: ["announce"] },
  ])("rotates a CA at most once, $name", ({ startMs, want }) => {
    expect(played(startMs, toAndFro)).toEqual({ steps: want, unsigned: [] });
  });

  test.each(["half a day before it is due", "when it is due"])(
    "renews a serving certificate once, %s",
    (when) => {
      let [startMs, endMs, renewals] = [0, shipped.servingMs, 0];
      const beginMs = (shipped.servingMs * 2) / 3 - (when === "when it is due" ? 0 : dayMs / 2);
      for (const jumpMs of toAndFro) {
        const nowMs = beginMs + jumpMs;
        if (nowMs < renewalMs(startMs, endMs, 0)) continue;
        [startMs, endMs, renewals] = [nowMs, nowMs + shipped.servingMs, renewals + 1];
      }
      expect(renewals).toBe(1);
    },
  );
});
