# The demo on a Kubernetes cluster on this machine: make cluster deploy demo grafana, and in the end make cluster-down.
# Needs docker or podman, kind and kubectl. Everything else of the project is a task: deno task.

CLUSTER ?= collapser
GRAFANA_PORT ?= 3000

ENGINE ?= $(shell if command -v docker >/dev/null; then echo docker; elif command -v podman >/dev/null; then echo podman; fi)
export KIND_EXPERIMENTAL_PROVIDER = $(ENGINE)

# Where there is git: the images cannot see it.
COMMIT = $(shell commit=$$(git rev-parse --short=12 HEAD 2>/dev/null) && echo --build-arg COMMIT=$$commit)

# Never the cluster that the user happens to be at.
KUBECTL = kubectl --context kind-$(CLUSTER)
HERE = $(KUBECTL) --namespace collapser-demo
KIND_OVERLAY = manifests/overlays/kind

# podman puts this before the name of an image that is built here; the manifests follow.
PREFIX = $(if $(filter podman,$(ENGINE)),localhost/)
MANIFESTS = kubectl kustomize $(1) | sed 's|image: collapser|image: $(PREFIX)collapser|'
LOAD = $(ENGINE) save $(PREFIX)$(1) | kind load image-archive /dev/stdin --name $(CLUSTER)

# Names all that is missing at once; "engine" is whatever builds images.
NEEDS = @missing=; for tool in $(1); do case "$$tool" in \
	engine) [ -n "$(ENGINE)" ] || missing="$$missing, docker or podman" ;; \
	*) command -v "$$tool" >/dev/null || missing="$$missing, $$tool" ;; esac; done; \
	[ -z "$$missing" ] || { echo "Cannot make $@: not on PATH:$${missing\#,}" >&2; exit 1; }

.PHONY: help cluster deploy demo grafana cluster-down

help:
	@echo "make cluster       create a cluster of kind on this machine"
	@echo "make deploy        build both images, load them, and run everything there"
	@echo "make demo          1,000 callers with 10 questions, counted at the backend"
	@echo "make grafana       the dashboard, at http://127.0.0.1:$(GRAFANA_PORT)/d/collapser until it is interrupted"
	@echo "make cluster-down  take the cluster away"

cluster:
	$(call NEEDS,engine kind)
	kind get clusters | grep -qx $(CLUSTER) || kind create cluster --name $(CLUSTER) --wait 180s

deploy:
	$(call NEEDS,engine kind kubectl)
	$(ENGINE) build $(COMMIT) --target collapser --tag collapser:dev .
	$(ENGINE) build $(COMMIT) --target backend --tag collapser-backend:dev .
	$(call LOAD,collapser:dev)
	$(call LOAD,collapser-backend:dev)
	$(call MANIFESTS,$(KIND_OVERLAY)) | $(KUBECTL) apply -f -
	$(HERE) rollout restart deployment hello # the images may be new under their old names
	for name in hello prometheus grafana; do $(HERE) rollout status deployment $$name --timeout 180s || exit 1; done

demo:
	$(call NEEDS,engine kubectl)
	$(HERE) delete job load --ignore-not-found
	$(call MANIFESTS,$(KIND_OVERLAY)/load) | $(KUBECTL) apply -f -
	$(HERE) logs --follow --pod-running-timeout 60s job/load
	$(HERE) wait --for condition=complete --timeout 30s job/load

grafana:
	$(call NEEDS,kubectl)
	@echo "http://127.0.0.1:$(GRAFANA_PORT)/d/collapser"
	$(HERE) port-forward service/grafana $(GRAFANA_PORT):3000

cluster-down:
	$(call NEEDS,engine kind)
	kind delete cluster --name $(CLUSTER)
