import type { ClusterLicense } from "@quartermaster/api/licensing";
import type { Live } from "@quartermaster/runtime";
import type { Secret } from "@quartermaster/runtime/kinds";
import { expect, test } from "vitest";

import { wantedLicense } from "../../src/license/wanted-license.ts";
import { aSignature } from "../support/signatures.ts";

const base = (text: string): string => Buffer.from(text).toString("base64");
const signature = aSignature();
const spec: ClusterLicense["spec"] = {
  uid: "u1",
  type: "gold",
  issueDate: 1,
  expiryDate: 9,
  issuedTo: "Example",
  issuer: "API",
  signatureRef: { name: "signature" },
};
const secret: Partial<Secret> = {
  type: "license.k8s.elastic.co/signature",
  data: { u1: base(signature), maxNodes: base("7") },
};

function read(
  changes: Partial<ClusterLicense["spec"]>,
  given: Partial<Secret> = {},
): ReturnType<typeof wantedLicense> {
  const license = {
    metadata: { name: "logs", namespace: "team" },
    spec: { ...spec, ...changes },
  } as Live<ClusterLicense>;
  return wantedLicense({
    license,
    secret: { ...secret, ...given } as Live<Secret>,
    engine: { version: "7.17.28", hasTransportTls: true },
  });
}

test("a license is sent as it was signed, with the number of nodes from the Secret", () => {
  expect(read({})).toMatchObject({
    uid: "u1",
    type: "gold",
    startMs: 1,
    expiryMs: 9,
    file: {
      licenses: [{ uid: "u1", expiry_date_in_millis: 9, max_nodes: 7, issued_to: "Example", signature }],
    },
  });
});

test.for<[string, Parameters<typeof read>, string]>([
  [
    "a Secret of a service account",
    [{}, { type: "kubernetes.io/service-account-token" }],
    "SignatureMissing",
  ],
  [
    "a Secret of another namespace",
    [{ signatureRef: { name: "signature", namespace: "other" } }],
    "Malformed",
  ],
  ["several keys", [{}, { data: { a: base(signature), b: base(signature) } }], "SignatureAmbiguous"],
  ["what is no signature", [{}, { data: { a: base("text") } }], "SignatureInvalid"],
])("%s is not read as a signature", ([, given, reason]) => {
  expect(read(...given)).toMatchObject({ reason });
});

test("a refusal counts for one file and one version", () => {
  const digests = [
    read({}),
    read({ expiryDate: 10 }),
    read({}, { data: { u1: base(aSignature({ isVendors: false })) } }),
  ].map((each) => ("digest" in each ? each.digest : ""));
  expect(new Set(digests).size).toBe(3);
});
