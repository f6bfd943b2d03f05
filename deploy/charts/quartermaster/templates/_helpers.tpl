{{/* Labels of every object. Selectors are constant and are not part of it. */}}
{{- define "quartermaster.labels" -}}
app.kubernetes.io/part-of: quartermaster
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end }}

{{/* Reference of one of our images: a digest takes precedence over the tag. Arguments: root, image. */}}
{{- define "quartermaster.image" -}}
{{- $tag := .root.Values.image.tag | default .root.Chart.AppVersion }}
{{- $name := printf "%s/%s" (trimSuffix "/" .root.Values.image.registry) .image.repository }}
{{- if .image.digest }}{{ printf "%s@%s" $name .image.digest }}{{ else }}{{ printf "%s:%s" $name $tag }}{{ end }}
{{- end }}

{{/* Names of the domains that are on, separated by commas. */}}
{{- define "quartermaster.domains" -}}
{{- $names := list }}
{{- if .Values.domains.installPlans.enabled }}{{ $names = append $names "install-plan" }}{{ end }}
{{- if .Values.domains.subscription.enabled }}{{ $names = append $names "subscription" }}{{ end }}
{{- if .Values.domains.licensing.enabled }}{{ $names = append $names "licensing" }}{{ end }}
{{- if .Values.domains.search.enabled }}{{ $names = append $names "search" }}{{ end }}
{{- join "," $names }}
{{- end }}

{{/* Labels and annotations of a pod. Arguments: root, name, pods. */}}
{{- define "quartermaster.podMetadata" -}}
labels:
  {{- $own := dict "app.kubernetes.io/name" .name "app.kubernetes.io/instance" "quartermaster" "app.kubernetes.io/part-of" "quartermaster" }}
  {{- toYaml (mergeOverwrite (deepCopy .pods.podLabels) $own) | nindent 2 }}
annotations:
  # The programs read these settings at start: other settings restart the pods.
  quartermaster.dev/settings-hash: {{ .root.Values.subscription.settings | toJson | sha256sum | trunc 16 | quote }}
  {{- with .pods.podAnnotations }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end }}

{{/* Environment of a container: a variable of extraEnv replaces ours. Arguments: own (YAML), extra. */}}
{{- define "quartermaster.env" -}}
{{- $names := list }}
{{- range .extra }}{{ $names = append $names .name }}{{ end }}
{{- $env := list }}
{{- range .own | fromYamlArray }}
{{- if not (has .name $names) }}{{ $env = append $env . }}{{ end }}
{{- end }}
{{- toYaml (concat $env .extra) }}
{{- end }}

{{/* Where the pods run. Arguments: root, name, pods. */}}
{{- define "quartermaster.placement" -}}
{{- with .root.Values.imagePullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .pods.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .pods.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .pods.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- end }}

{{/* Replicas on different hosts and zones, as far as there are any. Arguments: root, name. */}}
{{- define "quartermaster.spread" -}}
{{- if .root.Values.topologySpread.enabled }}
topologySpreadConstraints:
  {{- $name := .name }}
  {{- range list "kubernetes.io/hostname" "topology.kubernetes.io/zone" }}
  - maxSkew: 1
    topologyKey: {{ . }}
    whenUnsatisfiable: ScheduleAnyway
    labelSelector:
      matchLabels:
        {{- include "quartermaster.selector" $name | nindent 8 }}
  {{- end }}
{{- end }}
{{- end }}

{{/* Two constant labels: a selector cannot be changed by an upgrade. Argument: name. */}}
{{- define "quartermaster.selector" -}}
app.kubernetes.io/name: {{ . }}
app.kubernetes.io/instance: quartermaster
{{- end }}

{{/* Probes of all our programs. */}}
{{- define "quartermaster.probes" -}}
livenessProbe:
  httpGet:
    path: /healthz
    port: metrics
  periodSeconds: 10
readinessProbe:
  httpGet:
    path: /readyz
    port: metrics
  periodSeconds: 2
{{- end }}

{{/* A container without any privilege. */}}
{{- define "quartermaster.restricted" -}}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities:
    drop: [ALL]
{{- end }}

{{/* Connections that a pod opens to the API server. */}}
{{- define "quartermaster.apiServerEgress" -}}
- ports:
    {{- range .Values.networkPolicy.apiServer.ports }}
    - port: {{ . }}
      protocol: TCP
    {{- end }}
  {{- with .Values.networkPolicy.apiServer.cidrs }}
  to:
    {{- range . }}
    - ipBlock:
        cidr: {{ . }}
    {{- end }}
  {{- end }}
{{- end }}
