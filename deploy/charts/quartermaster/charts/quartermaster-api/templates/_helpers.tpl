{{/* Labels of every object. */}}
{{- define "quartermaster-api.labels" -}}
app.kubernetes.io/part-of: quartermaster
app.kubernetes.io/component: api
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end }}

{{- define "quartermaster-api.operatorNamespace" -}}
{{ .Values.operatorNamespace | default .Release.Namespace }}
{{- end }}

{{/* Not empty where policies record authors: MutatingAdmissionPolicy v1 is served since Kubernetes 1.36. The version decides, because
without a cluster Helm knows the kinds of its own Kubernetes libraries. */}}
{{- define "quartermaster-api.recordsAuthors" -}}
{{- $isServed := semverCompare ">=1.36.0-0" .Capabilities.KubeVersion.Version }}
{{- $wanted := or (eq .Values.policies.authorRecord "Always") (and (eq .Values.policies.authorRecord "Auto") $isServed) }}
{{- if and .Values.policies.enabled $wanted }}yes{{ end }}
{{- end }}
