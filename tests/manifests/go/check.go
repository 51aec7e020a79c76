package main

import (
	"fmt"
	"strings"

	monitoring "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	apps "k8s.io/api/apps/v1"
	batch "k8s.io/api/batch/v1"
	core "k8s.io/api/core/v1"
	networking "k8s.io/api/networking/v1"
	disruption "k8s.io/api/policy/v1"
	rbac "k8s.io/api/rbac/v1"
	podsecurity "k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/policy"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/yaml"
)

// The Deployment that stands for somebody's own there is as they are: without a security context.
const exampleFolder = "examples/your-service/"

// Every kind that the manifests may use, with the type that knows its fields.
var kinds = map[string]func() any{
	"apps/v1 DaemonSet":                             func() any { return new(apps.DaemonSet) },
	"apps/v1 Deployment":                            func() any { return new(apps.Deployment) },
	"apps/v1 StatefulSet":                           func() any { return new(apps.StatefulSet) },
	"batch/v1 CronJob":                              func() any { return new(batch.CronJob) },
	"batch/v1 Job":                                  func() any { return new(batch.Job) },
	"kustomize.config.k8s.io/v1alpha1 Component":    func() any { return new(types.Kustomization) },
	"kustomize.config.k8s.io/v1beta1 Kustomization": func() any { return new(types.Kustomization) },
	"monitoring.coreos.com/v1 PodMonitor":           func() any { return new(monitoring.PodMonitor) },
	"monitoring.coreos.com/v1 PrometheusRule":       func() any { return new(monitoring.PrometheusRule) },
	"monitoring.coreos.com/v1 ServiceMonitor":       func() any { return new(monitoring.ServiceMonitor) },
	"networking.k8s.io/v1 NetworkPolicy":            func() any { return new(networking.NetworkPolicy) },
	"policy/v1 PodDisruptionBudget":                 func() any { return new(disruption.PodDisruptionBudget) },
	"rbac.authorization.k8s.io/v1 Role":             func() any { return new(rbac.Role) },
	"rbac.authorization.k8s.io/v1 RoleBinding":      func() any { return new(rbac.RoleBinding) },
	"v1 ConfigMap":                                  func() any { return new(core.ConfigMap) },
	"v1 Namespace":                                  func() any { return new(core.Namespace) },
	"v1 Pod":                                        func() any { return new(core.Pod) },
	"v1 Service":                                    func() any { return new(core.Service) },
	"v1 ServiceAccount":                             func() any { return new(core.ServiceAccount) },
}

var podSecurity = mustEvaluator()

func mustEvaluator() policy.Evaluator {
	evaluator, err := policy.NewEvaluator(policy.DefaultChecks(), nil)
	if err != nil {
		panic(err)
	}
	return evaluator
}

// Decodes the object into its type, which must have every field. Returns nil when that is not so.
func (r *reading) check(where string, document []byte) any {
	var header struct{ APIVersion, Kind string }
	if err := yaml.Unmarshal(document, &header); err != nil {
		r.complain(where, err)
		return nil
	}
	name := header.APIVersion + " " + header.Kind
	if name == "v1 List" {
		return r.checkItems(where, document)
	}
	create, known := kinds[name]
	if !known {
		r.complain(where, fmt.Errorf("nobody knows the kind %q", name))
		return nil
	}
	object := create()
	if err := yaml.UnmarshalStrict(document, object); err != nil {
		r.complain(where, err)
		return nil
	}
	return object
}

// Decodes each object of a list, as kubectl prints them; a list has no pod of its own.
func (r *reading) checkItems(where string, document []byte) any {
	var list core.List
	if err := yaml.UnmarshalStrict(document, &list); err != nil {
		r.complain(where, err)
	}
	for index, item := range list.Items {
		r.check(fmt.Sprintf("%s: item %d", where, index), item.Raw)
	}
	return nil
}

// What admission does in a namespace whose level is "restricted".
func (r *reading) checkPod(where string, object any) {
	template := podOf(object)
	if template == nil {
		return
	}
	level := podsecurity.LevelVersion{Level: podsecurity.LevelRestricted, Version: podsecurity.LatestVersion()}
	result := policy.AggregateCheckResults(podSecurity.EvaluatePod(level, &template.ObjectMeta, &template.Spec))
	if !result.Allowed {
		r.complain(where, fmt.Errorf("not restricted: %s", strings.TrimSpace(result.ForbiddenDetail())))
	}
}

func podOf(object any) *core.PodTemplateSpec {
	switch typed := object.(type) {
	case *apps.Deployment:
		return &typed.Spec.Template
	case *batch.Job:
		return &typed.Spec.Template
	}
	return nil
}
