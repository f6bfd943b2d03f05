import { describe, expect, test } from "vitest";

import { Refusal } from "../../src/refusal.ts";
import { parseTarget, parseUnpublish } from "../../src/volume/target-path.ts";
import { MAX_SHARES, parseVolumeRequest } from "../../src/volume/volume-request.ts";

const kubelet = "/var/lib/kubelet";
const target = `${kubelet}/pods/uid-1/volumes/kubernetes.io~csi/etc/mount`;
const podInfo = {
  "csi.storage.k8s.io/pod.name": "web",
  "csi.storage.k8s.io/pod.namespace": "app",
  "csi.storage.k8s.io/pod.uid": "uid-1",
  "csi.storage.k8s.io/serviceAccount.name": "builder",
  "csi.storage.k8s.io/ephemeral": "true",
};

interface Given {
  readonly attributes?: Readonly<Record<string, string>>;
  readonly message?: Readonly<Record<string, unknown>>;
}

function parse({ attributes = { share: "a" }, message = {} }: Given): ReturnType<typeof parseVolumeRequest> {
  const volumeContext = { ...podInfo, ...attributes };
  const request = { volumeId: "csi-1", targetPath: target, readonly: true, volumeContext, ...message };
  return parseVolumeRequest(request, kubelet);
}

function sourcesOf(count: number): string {
  return JSON.stringify(Array.from({ length: count }, (_, index) => ({ share: { name: `s${index}` } })));
}

describe("a request for a volume", () => {
  test("with one share", () => {
    expect(parse({})).toEqual({
      volumeId: "csi-1",
      target,
      pod: { namespace: "app", name: "web", uid: "uid-1", serviceAccount: "builder" },
      shares: ["a"],
      mode: 0o444,
    });
  });

  test("with several shares keeps their order, each once", () => {
    const sources = '[{"share":{"name":"b"}},{"share":{"name":"a"}},{"share":{"name":"b"}}]';
    expect(parse({ attributes: { sources } }).shares).toEqual(["b", "a"]);
    expect(parse({ attributes: { sources: sourcesOf(MAX_SHARES) } }).shares).toHaveLength(MAX_SHARES);
  });

  test.each([
    { text: "0400", want: 0o400 },
    { text: "644", want: 0o644 },
  ])("with defaultMode $text", ({ text, want }) => {
    expect(parse({ attributes: { share: "a", defaultMode: text } }).mode).toBe(want);
  });

  const refused: readonly (Given & { readonly name: string; readonly says: string })[] = [
    { name: "neither attribute", attributes: {}, says: "share or sources is required" },
    { name: "both attributes", attributes: { share: "a", sources: "[]" }, says: "exclude each other" },
    { name: "an unknown attribute", attributes: { share: "a", shares: "b" }, says: 'unknown "shares"' },
    { name: "sources that are no JSON", attributes: { sources: "a,b" }, says: "must be JSON text" },
    { name: "sources without an entry", attributes: { sources: "[]" }, says: "must be JSON text" },
    { name: "sources of another shape", attributes: { sources: '[{"name":"a"}]' }, says: "must be JSON" },
    { name: "too many sources", attributes: { sources: sourcesOf(MAX_SHARES + 1) }, says: "1 to 32" },
    { name: "a name that is a path", attributes: { share: "../a" }, says: "not the name of a Share" },
    { name: "an empty name", attributes: { share: "" }, says: "not the name of a Share" },
    { name: "a mode that is not octal", attributes: { share: "a", defaultMode: "0999" }, says: "not octal" },
    { name: "a mode with setuid", attributes: { share: "a", defaultMode: "4755" }, says: "not octal" },
    { name: "a writable volume", message: { readonly: false }, says: "readOnly: true" },
    { name: "a block volume", message: { volumeCapability: { block: {} } }, says: "block device" },
    { name: "no volume id", message: { volumeId: "" }, says: "no volume id" },
    {
      name: "a persistent volume",
      attributes: { share: "a", "csi.storage.k8s.io/ephemeral": "false" },
      says: "only ephemeral",
    },
    {
      name: "a pod of the author's own making, where kubelet sends none",
      attributes: { share: "a", "csi.storage.k8s.io/pod.uid": "invented" },
      says: "podInfoOnMount",
    },
  ];
  test.each(refused)("[subscription-injection/AC-H9] $name is refused", ({ says, ...given }) => {
    expect(() => parse(given)).toThrow(Refusal);
    expect(() => parse(given)).toThrow(says);
  });
});

describe("[subscription-injection/AC-H9] a path outside kubelet's directory is refused", () => {
  const paths = [
    "",
    "/etc",
    "/var/lib/kubelet",
    `${kubelet}/pods/uid-1/volumes/kubernetes.io~csi/etc`,
    `${kubelet}/pods/uid-1/volumes/kubernetes.io~secret/etc/mount`,
    `${kubelet}/pods/uid-1/volumes/kubernetes.io~csi/etc/mount/`,
    `${kubelet}/pods/uid-1/volumes/kubernetes.io~csi/etc/mount/more`,
    `${kubelet}/pods/../volumes/kubernetes.io~csi/etc/mount`,
    `${kubelet}/pods/uid-1/volumes/kubernetes.io~csi/../mount`,
    `${kubelet}/pods//volumes/kubernetes.io~csi/etc/mount`,
    `${kubelet}/../kubelet/pods/uid-1/volumes/kubernetes.io~csi/etc/mount`,
    `${kubelet}-other/pods/uid-1/volumes/kubernetes.io~csi/etc/mount`,
    `${kubelet}/pods/uid 1/volumes/kubernetes.io~csi/etc/mount`,
    `${kubelet}/pods/uid-1/volumes/kubernetes.io~csi/a\nb/mount`,
    "relative/pods/uid-1/volumes/kubernetes.io~csi/etc/mount",
  ];
  test.each(paths.map((path) => ({ path })))("$path", ({ path }) => {
    expect(() => parseTarget(path, kubelet)).toThrow("not one of kubelet's");
    expect(() => parseUnpublish({ volumeId: "csi-1", targetPath: path }, kubelet)).toThrow(Refusal);
  });
});
