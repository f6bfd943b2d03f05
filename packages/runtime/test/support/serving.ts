import { type CertifiedKey, CurrentCertificate } from "../../src/certificates/certificate-source.ts";
import { issueCa, issueCertificate } from "../../src/certificates/issue-certificate.ts";

/** A certificate for 127.0.0.1 and the CA that vouches for it. */
export interface Serving {
  readonly ca: CertifiedKey;
  readonly certificates: CurrentCertificate;
}

/** Makes both, valid for an hour. */
export async function makeServing(): Promise<Serving> {
  const validity = { notBeforeMs: Date.now() - 60_000, notAfterMs: Date.now() + 3_600_000 };
  const ca = await issueCa({
    subject: { commonName: "test authority" },
    serial: "01",
    validity,
  });
  const names = { dnsNames: ["localhost"], ipAddresses: ["127.0.0.1"] };
  const certificates = new CurrentCertificate();
  const request = { subject: { commonName: "test" }, usages: ["server"], serial: "02", validity } as const;
  certificates.use(await issueCertificate(ca, { ...request, ...names }));
  return { ca, certificates };
}

/** Where a webhook is registered. */
export interface Registration {
  readonly name: string;
  readonly kind: "Mutating" | "Validating";
  readonly port: number;
  readonly path: string;
  /** PEM; left out, the bundle is. */
  readonly caPem?: string;
  /** Only objects in this namespace are queried about. */
  readonly namespace: string;
  readonly timeoutSeconds?: number;
  /** (default: ConfigMaps) */
  readonly resource?: { readonly group: string; readonly plural: string };
}

/** A webhook configuration that fails closed. */
export function registrationOf({
  name,
  kind,
  port,
  path,
  caPem,
  namespace,
  timeoutSeconds = 10,
  resource = { group: "", plural: "configmaps" },
}: Registration): object {
  return {
    apiVersion: "admissionregistration.k8s.io/v1",
    kind: `${kind}WebhookConfiguration`,
    metadata: { name },
    webhooks: [
      {
        name: `${name}.example.com`,
        clientConfig: {
          url: `https://127.0.0.1:${port}${path}`,
          ...(caPem !== undefined && { caBundle: Buffer.from(caPem).toString("base64") }),
        },
        rules: [
          {
            apiGroups: [resource.group],
            apiVersions: ["v1"],
            operations: ["CREATE", "UPDATE"],
            resources: [resource.plural],
          },
        ],
        namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": namespace } },
        admissionReviewVersions: ["v1"],
        sideEffects: "None",
        failurePolicy: "Fail",
        timeoutSeconds,
      },
    ],
  };
}
