// Lints and renders a chart as `helm lint` and `helm template` do, with Helm's own code. Reads cases from a file, a
// JSON list of values with more templates to render beside the chart's, and prints what came of each as JSON.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"time"

	"helm.sh/helm/v4/pkg/action"
	"helm.sh/helm/v4/pkg/chart/common"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	release "helm.sh/helm/v4/pkg/release/v1"
)

type renderCase struct {
	Values    map[string]any    `json:"values"`
	Templates map[string]string `json:"templates"`
}

type result struct {
	// What the linter says at the level of a warning or above.
	Lint     []string `json:"lint"`
	Manifest string   `json:"manifest"`
	Notes    string   `json:"notes"`
	Error    string   `json:"error"`
}

const warning = 2

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "Give the folder of one chart, and a file with cases")
		os.Exit(64)
	}
	var cases []renderCase
	text, err := os.ReadFile(os.Args[2])
	if err == nil {
		err = json.Unmarshal(text, &cases)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(64)
	}
	results := make([]result, 0, len(cases))
	for _, one := range cases {
		results = append(results, render(os.Args[1], one))
	}
	if err := json.NewEncoder(os.Stdout).Encode(results); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func render(folder string, one renderCase) result {
	found := result{Lint: []string{}}
	for _, message := range action.NewLint().Run([]string{folder}, one.Values).Messages {
		if message.Severity >= warning {
			found.Lint = append(found.Lint, fmt.Sprintf("%s: %v", message.Path, message.Err))
		}
	}
	chart, err := loader.LoadDir(folder)
	if err != nil {
		found.Error = err.Error()
		return found
	}
	for name, text := range one.Templates {
		template := &common.File{Name: "templates/" + name, Data: []byte(text), ModTime: time.Now()}
		chart.Templates = append(chart.Templates, template)
	}
	install := action.NewInstall(action.NewConfiguration())
	install.DryRunStrategy = action.DryRunClient
	install.ReleaseName = "shop"
	install.Namespace = "default"
	made, err := install.Run(chart, one.Values)
	if err != nil {
		found.Error = err.Error()
		return found
	}
	if typed, ok := made.(*release.Release); ok {
		found.Manifest = typed.Manifest
		if typed.Info != nil {
			found.Notes = typed.Info.Notes
		}
	}
	return found
}
