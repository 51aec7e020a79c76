{{/*
The variable of an option: cacheDuration is COLLAPSER_CACHE_DURATION, backendTimeout is BACKEND_TIMEOUT.
*/}}
{{- define "collapser.variable" -}}
{{- $name := snakecase . | upper -}}
{{- if not (regexMatch "^(ADMIN|BACKEND|DRAIN|GRPC|LOG|METRICS)_" $name) -}}COLLAPSER_{{- end -}}
{{- $name -}}
{{- end -}}

{{/*
A value as text. Numbers of YAML are floats, whose text would be 6.7108864e+07.
*/}}
{{- define "collapser.text" -}}
{{- if and (kindIs "float64" .) (eq (floor .) .) -}}{{ int64 . }}{{- else -}}{{ . }}{{- end -}}
{{- end -}}

{{- define "collapser.options" -}}
{{- $ours := dict "grpcPort" 50052 "metricsPort" 2112 "adminHost" "127.0.0.1" "adminPort" 2113 -}}
{{- merge (deepCopy .Values.options) $ours | toJson -}}
{{- end -}}

{{/*
The container, without what makes it a sidecar.
*/}}
{{- define "collapser.fields" -}}
{{- $options := include "collapser.options" . | fromJson -}}
name: collapser
image: {{ include "collapser.image" . }}
{{- if ne .Values.image.pullPolicy "IfNotPresent" }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
{{- end }}
env:
  {{- range $key, $value := $options }}
  {{- if ne (toString $value) "" }}
  - name: {{ include "collapser.variable" $key }}
    value: {{ include "collapser.text" $value | quote }}
  {{- end }}
  {{- end }}
  # The heap's bound follows from the memory limit below, instead of from the node's memory.
  - name: DENO_USE_CGROUPS
    value: "1"
  {{- with .Values.extraEnv }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
ports:
  - name: collapser-grpc
    containerPort: {{ int64 $options.grpcPort }}
  - name: collapser-http
    containerPort: {{ int64 $options.metricsPort }}
startupProbe:
  httpGet:
    path: /health
    port: collapser-http
  periodSeconds: 1
  failureThreshold: 30
livenessProbe:
  httpGet:
    path: /health
    port: collapser-http
  periodSeconds: 10
  timeoutSeconds: 5
  failureThreshold: 3
readinessProbe:
  httpGet:
    path: /ready
    port: collapser-http
  periodSeconds: 2
  timeoutSeconds: 2
  failureThreshold: 3
resources:
  {{- toYaml .Values.resources | nindent 2 }}
securityContext:
  runAsNonRoot: true
  runAsUser: 65532
  runAsGroup: 65532
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities:
    drop: [ALL]
  seccompProfile:
    type: RuntimeDefault
{{- with .Values.extraVolumeMounts }}
volumeMounts:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{/*
A native sidecar, as an item of initContainers (Kubernetes 1.29 and later).
*/}}
{{- define "collapser.sidecar" -}}
{{- if not .Values.options.backendAddress -}}
{{- fail "Set options.backendAddress to the port that the pod's own service listens on, such as 127.0.0.1:50051" -}}
{{- end -}}
- restartPolicy: Always
  {{- include "collapser.fields" . | nindent 2 }}
{{- end -}}
