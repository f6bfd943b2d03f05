import type { KubeObject } from "@quartermaster/runtime";

const port = 8080;

/** A pod that takes alerts as a webhook, and shows what it got at `/alerts`; and its Service. They meet the restricted profile. */
export function alertReceiver(
  namespace: string,
  name: string,
): { readonly pod: KubeObject; readonly service: KubeObject } {
  const labels = { app: name };
  const take =
    '#!/bin/sh\\ncat >> /www/alerts\\necho >> /www/alerts\\nprintf "Content-Type: text/plain\\\\r\\\\n\\\\r\\\\nok"\\n';
  const script = `mkdir /www/cgi-bin && printf '${take}' > /www/cgi-bin/take && chmod 755 /www/cgi-bin/take && : > /www/alerts && exec httpd -f -p ${String(port)} -h /www`;
  return {
    pod: {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name, namespace, labels },
      spec: {
        automountServiceAccountToken: false,
        securityContext: {
          runAsNonRoot: true,
          runAsUser: 1000,
          fsGroup: 1000,
          seccompProfile: { type: "RuntimeDefault" },
        },
        containers: [
          {
            name,
            image: "quartermaster.local/busybox:1",
            command: ["sh", "-c", script],
            securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ["ALL"] } },
            volumeMounts: [{ name: "www", mountPath: "/www" }],
          },
        ],
        volumes: [{ name: "www", emptyDir: {} }],
      },
    } as KubeObject,
    service: {
      apiVersion: "v1",
      kind: "Service",
      metadata: { name, namespace },
      spec: { selector: labels, ports: [{ port, targetPort: port, protocol: "TCP" }] },
    } as KubeObject,
  };
}

/** What an author's Secret says: the webhook of that pod gets everything at once, ends included. */
export function receiversOf(namespace: string, name: string): string {
  return JSON.stringify({
    route: {
      receiver: "pager",
      group_by: ["alertname"],
      group_wait: "1s",
      group_interval: "5s",
      repeat_interval: "1h",
    },
    receivers: [
      {
        name: "pager",
        webhook_configs: [
          { url: `http://${name}.${namespace}.svc:${String(port)}/cgi-bin/take`, send_resolved: true },
        ],
      },
    ],
  });
}
