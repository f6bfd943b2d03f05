import type { SignatureSecret } from "@quartermaster/license-selection";
import { describe, expect, test } from "vitest";

import { LicensePool, signatureSecrets } from "../../src/pool/license-pool.ts";
import { anEnterprise, theSignatures } from "../support/license-objects.ts";

const uids = ["p1", "p2", "p3", "p4"];

describe("Secrets that hold the signatures of an EnterpriseLicense", () => {
  test.each([0, 1, 2, 3, 4])("are its own and those of its %i nested licenses, each once", (count) => {
    const { spec } = anEnterprise("e", uids.slice(0, count));
    const clusterLicenses = (spec.clusterLicenses ?? []).flatMap((each) => [
      { ...each, signatureRef: { name: `s-${each.uid}` } },
      { ...each, signatureRef: { name: `s-${each.uid}` } },
    ]);
    const want = uids.slice(0, count).map((uid) => `s-${uid}`);
    expect(signatureSecrets({ ...spec, clusterLicenses })).toEqual(["e-signatures", ...want]);
  });
});

describe("a pool that was read before", () => {
  test.each([1, 2, 3, 4])(
    "of %i licenses reads the one again whose Secret changed, and no other",
    (count) => {
      const names = ["a", "b", "c", "d"].slice(0, count);
      const licenses = names.map((name) => anEnterprise(name, [`${name}-1`]));
      const versions = new Map<string, string>();
      const secrets = new Map<string, SignatureSecret>(
        licenses.map((each) => [each.spec.signatureRef.name, theSignatures(each)]),
      );
      const pool = new LicensePool();
      const read = () =>
        pool.read(licenses, {
          licenseNamespace: "licenses",
          secretOf: (name) => secrets.get(name),
          versionOf: (name) => versions.get(name) ?? "1",
        });
      const before = read();
      expect(before.licenses.map(({ problem }) => problem)).toEqual(names.map(() => undefined));
      expect(read()).toBe(before);
      const [first = ""] = secrets.keys();
      secrets.delete(first);
      versions.set(first, "2");
      const after = read();
      expect(after.licenses.map(({ problem }) => problem?.reason)).toEqual([
        "SignatureMissing",
        ...names.slice(1).map(() => undefined),
      ]);
      const isSame = after.licenses.map((license, at) => license === before.licenses[at]);
      expect(isSame).toEqual(names.map((_name, at) => at > 0));
    },
  );
});
