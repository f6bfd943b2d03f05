import { expect, test } from "vitest";

import { bundleOverlap } from "../../src/certificates/bundle-overlap.ts";
import { issueCa } from "../../src/certificates/issue-certificate.ts";
import { readCertificate } from "../../src/certificates/read-certificate.ts";
import { publishedIn } from "../../src/certificates/relayed-ca.ts";

const hourMs = 3_600_000;
const nowMs = Date.parse("2026-01-01T00:00:00Z");
const names = ["old", "new", "third"] as const;
const cas = new Map(
  await Promise.all(
    names.map(async (commonName, index) => {
      const validity = { notBeforeMs: nowMs - hourMs, notAfterMs: nowMs + 1_000 * hourMs };
      const subject = { commonName };
      const { certificatePem } = await issueCa({ subject, serial: `0${index + 1}`, validity });
      return [commonName, certificatePem] as const;
    }),
  ),
);

function pemOf(...wanted: readonly string[]): string {
  return wanted.map((name) => cas.get(name as "old") ?? "").join("");
}

function fingerprintOf(name: string): string {
  return readCertificate(pemOf(name))?.fingerprint ?? "";
}

function leaving(given: Readonly<Record<string, number>>): ReadonlyMap<string, number> {
  return new Map(Object.entries(given).map(([name, ms]) => [fingerprintOf(name), ms]));
}

/** Names of the CAs in a bundle, sorted. */
function namesIn(pem: string): readonly string[] {
  return names.filter((name) => pem.includes(pemOf(name))).toSorted();
}

interface Case {
  readonly name: string;
  readonly source: readonly string[];
  readonly published: readonly string[];
  readonly certificates?: Readonly<Record<string, number>>;
  readonly want: readonly string[];
  readonly wantCertificates?: Readonly<Record<string, number>>;
}

const cases: readonly Case[] = [
  { name: "the first one", source: ["old"], published: [], want: ["old"] },
  { name: "nothing new", source: ["old"], published: ["old"], want: ["old"] },
  {
    name: "a new one beside the old one, which begins to leave",
    source: ["new"],
    published: ["old"],
    want: ["new", "old"],
    wantCertificates: { old: nowMs + hourMs },
  },
  {
    name: "an old one whose time has not come",
    source: ["new"],
    published: ["old", "new"],
    certificates: { old: nowMs + 1 },
    want: ["new", "old"],
    wantCertificates: { old: nowMs + 1 },
  },
  {
    name: "an old one whose time has come",
    source: ["new"],
    published: ["old", "new"],
    certificates: { old: nowMs },
    want: ["new"],
  },
  {
    name: "a replica that still has the old source takes nothing back",
    source: ["old"],
    published: ["old", "new"],
    certificates: { old: nowMs + 5 },
    want: ["new", "old"],
    wantCertificates: { new: nowMs + hourMs, old: nowMs + 5 },
  },
  {
    name: "one that leaves by mistake of such a replica stays",
    source: ["new"],
    published: ["new"],
    certificates: { new: nowMs },
    want: ["new"],
  },
  {
    name: "a second change before the first is over",
    source: ["third"],
    published: ["old", "new"],
    certificates: { old: nowMs + 5 },
    want: ["new", "old", "third"],
    wantCertificates: { new: nowMs + hourMs, old: nowMs + 5 },
  },
];

test.each(cases)(
  "CAs to publish: $name",
  ({ source, published, certificates = {}, want, wantCertificates = {} }) => {
    const response = bundleOverlap({
      sourcePem: pemOf(...source),
      published: { pem: pemOf(...published), leavingMs: leaving(certificates) },
      nowMs,
      overlapMs: hourMs,
    });
    expect(namesIn(response.pem)).toEqual(want);
    expect(new Map(response.leavingMs)).toEqual(new Map(leaving(wantCertificates)));
    const times = Object.values(wantCertificates);
    expect(response.nextMs).toBe(times.length === 0 ? undefined : Math.min(...times));
  },
);

test("two replicas with different sources agree after one write each", () => {
  let published = { pem: "", leavingMs: new Map<string, number>() as ReadonlyMap<string, number> };
  const write = (source: string): boolean => {
    const { pem, leavingMs } = bundleOverlap({
      sourcePem: pemOf(source),
      published,
      nowMs,
      overlapMs: hourMs,
    });
    const isSame = pem === published.pem && leavingMs.size === published.leavingMs.size;
    published = { pem, leavingMs };
    return !isSame;
  };
  write("old");
  const written = ["new", "old", "new", "old", "new", "old"].map(write);
  expect(written).toEqual([true, true, false, false, false, false]);
});

test("times that another client spoilt begin again, and a spoilt bundle counts for nothing", () => {
  const of = (pem: string, text: string) =>
    publishedIn({
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: "ca", annotations: { "quartermaster.dev/authorities-leave": text } },
      data: { "ca.crt": pem },
    });
  expect(of(pemOf("old"), "{").leavingMs.size).toBe(0);
  expect(of(pemOf("old"), '{"x":"tomorrow"}').leavingMs.size).toBe(0);
  expect(of(pemOf("old"), `{"x":"2026-01-01T00:00:00Z"}`).leavingMs.get("x")).toBe(nowMs);
  expect(of("nonsense", "{}").pem).toBe("");
});
