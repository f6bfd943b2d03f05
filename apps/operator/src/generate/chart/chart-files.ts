import { readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";

import { generatedFiles, type GeneratedFile } from "@quartermaster/api/generate";
import { monitoringFiles } from "@quartermaster/search";

import type { DomainName } from "../../settings.ts";
import { apiChartDirectory, chartDirectory, valuesFiles, valuesTable } from "./values-files.ts";

/** Version of the API that a CRD serves; the operator compares it with the one that it was built for. */
export const apiVersionLabel = "quartermaster.dev/api-version";

/** Namespace of the operator that a CRD belongs to. */
export const operatorNamespaceLabel = "quartermaster.dev/operator-namespace";

/** Files of the two charts that repeat what is said elsewhere: CRDs, policies, alert rules, dashboards, and values. */
export function chartFiles(root: string): readonly GeneratedFile[] {
  return [
    ...valuesFiles(),
    ...crdTemplates(),
    ...policyTemplates(root),
    ...roleTemplates(root),
    ...monitoringCopies(root),
    readmeWithValues(root),
  ];
}

function crdTemplates(): readonly GeneratedFile[] {
  return generatedFiles()
    .filter(({ path }) => path.startsWith("config/crd/"))
    .map(({ path, content }) => {
      const name = /^ {2}name: (.+)$/m.exec(content)?.[1] ?? "";
      const body = escaped(content).replace(`  name: ${name}\n`, (line) => `${line}${crdMetadata}`);
      const text = `{{- if not (has "${name}" .Values.crds.exclude) }}\n${body}{{- end }}\n`;
      return { path: `${apiChartDirectory}/templates/crds/${basename(path)}`, content: text };
    });
}

const apiLabels = '  labels:\n    {{- include "quartermaster-api.labels" . | nindent 4 }}\n';

const crdMetadata = `${apiLabels}    ${operatorNamespaceLabel}: {{ include "quartermaster-api.operatorNamespace" . }}
  {{- if .Values.crds.keep }}
  annotations:
    helm.sh/resource-policy: keep
  {{- end }}
`;

/** Policies are written by hand in config/policy. Those that record authors need an API that older clusters do not serve. */
function policyTemplates(root: string): readonly GeneratedFile[] {
  return readdirSync(join(root, "config/policy"))
    .toSorted()
    .map((file) => {
      const content = readFileSync(join(root, "config/policy", file), "utf8");
      const condition = file.endsWith("-author-record.yaml")
        ? '(include "quartermaster-api.recordsAuthors" .)'
        : ".Values.policies.enabled";
      const body = escaped(content).replaceAll(
        /^metadata:\n {2}name: .+\n/gm,
        (text) => `${text}${apiLabels}`,
      );
      return {
        path: `${apiChartDirectory}/templates/policies/${file}`,
        content: `{{- if ${condition} }}\n${body}{{- end }}\n`,
      };
    });
}

/** Roles of the limited permissions that are written by hand. */
function roleTemplates(root: string): readonly GeneratedFile[] {
  return roles.map(({ file, condition }) => {
    const content = readFileSync(join(root, "config/rbac-limited", file), "utf8");
    const body = content
      .replaceAll(/^ {2}labels:\n/gm, "")
      .replaceAll(/^metadata:\n {2}name: .+\n/gm, (text) => `${text}${ownLabels}`);
    return {
      path: `${chartDirectory}/templates/roles/${basename(file)}`,
      content: `{{- if ${condition} }}\n${body}{{- end }}\n`,
    };
  });
}

const limitedPlans = 'and .Values.domains.installPlans.enabled (eq .Values.rbac.profile "limited")';

const roles = [
  { file: "built-in-kinds.yaml", condition: limitedPlans },
  { file: "plans.yaml", condition: ".Values.domains.installPlans.enabled" },
  { file: "optional/secrets.yaml", condition: `and .Values.rbac.readSecrets ${limitedPlans.slice(4)}` },
] as const;

const ownLabels = '  labels:\n    {{- include "quartermaster.labels" . | nindent 4 }}\n';

/** Alert rules and dashboards, which a template of the chart wraps. */
function monitoringCopies(root: string): readonly GeneratedFile[] {
  const ofSearch = new Map(monitoringFiles().map(({ path, content }) => [path, content]));
  return ["config/alerts", "config/dashboards"].flatMap((directory) =>
    readdirSync(join(root, directory))
      .toSorted()
      .map((file) => {
        const path = `${directory}/${file}`;
        const content = ofSearch.get(path) ?? readFileSync(join(root, path), "utf8");
        return { path: `${chartDirectory}/files/${basename(directory)}/${file}`, content };
      }),
  );
}

/** The README with the table of today's values; the rest of it is written by hand. */
function readmeWithValues(root: string): GeneratedFile {
  const path = `${chartDirectory}/README.md`;
  const page = readFileSync(join(root, path), "utf8");
  return { path, content: page.replace(/^\| value \| default \|[^]*?(?=^$)/m, valuesTable()) };
}

/** Text that Helm passes on as it is. */
function escaped(text: string): string {
  return text.replaceAll("{{", '{{ "{{" }}');
}

/** Name of the value that switches a domain on. */
export const domainValues: Readonly<Record<DomainName, string>> = {
  "install-plan": "installPlans",
  licensing: "licensing",
  search: "search",
  subscription: "subscription",
};
