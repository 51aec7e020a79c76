// Reads the Kubernetes manifests below a folder with Kubernetes' own types, and prints what it read as one JSON
// object: every YAML file as it is, and every kustomization as it is built. What is wrong with them is listed
// under "problems": a field that the type does not have, a key that appears twice, a reference that leads nowhere, a
// pod that Pod Security "restricted" would not let in.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"
)

const usage = "Give one folder, whose manifests are read"

// What is printed.
type reading struct {
	// Documents of each YAML file, by its path below the folder.
	Files map[string][]any `json:"files"`
	// Objects that each folder with a kustomization builds.
	Builds   map[string][]any `json:"builds"`
	Problems []string         `json:"problems"`
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, usage)
		os.Exit(64)
	}
	result := reading{Files: map[string][]any{}, Builds: map[string][]any{}, Problems: []string{}}
	if err := result.readAll(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	if err := json.NewEncoder(os.Stdout).Encode(result); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func (r *reading) readAll(root string) error {
	return filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".yaml" {
			return err
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		r.readFile(name, text)
		if entry.Name() == "kustomization.yaml" {
			r.build(filepath.Dir(name), filepath.Dir(path), text)
		}
		return nil
	})
}

func (r *reading) readFile(name string, text []byte) {
	for _, document := range documents(text) {
		var value any
		if err := yaml.UnmarshalStrict(document, &value); err != nil {
			r.complain(name, err)
			continue
		}
		r.Files[name] = append(r.Files[name], value)
		if isObject(value) {
			r.check(name, document)
		}
	}
}

// A component cannot be built alone; the overlay that takes it shows what it does.
func (r *reading) build(name, folder string, text []byte) {
	var header types.Kustomization
	if err := yaml.Unmarshal(text, &header); err != nil || header.Kind == types.ComponentKind {
		return
	}
	objects, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), folder)
	if err != nil {
		r.complain(name, err)
		return
	}
	for _, object := range objects.Resources() {
		document, err := object.AsYAML()
		if err != nil {
			r.complain(name, err)
			continue
		}
		id := fmt.Sprintf("%s: %s %s", name, object.GetKind(), object.GetName())
		value, err := object.Map()
		if err != nil {
			r.complain(id, err)
			continue
		}
		r.Builds[name] = append(r.Builds[name], value)
		typed := r.check(id, document)
		if !strings.HasPrefix(name, exampleFolder) {
			r.checkPod(id, typed)
		}
	}
}

func (r *reading) complain(where string, err error) {
	r.Problems = append(r.Problems, fmt.Sprintf("%s: %v", where, err))
}

// Whether it says that it is an object of Kubernetes or of kustomize, as other YAML files do not.
func isObject(value any) bool {
	fields, ok := value.(map[string]any)
	if !ok {
		return false
	}
	_, hasKind := fields["kind"]
	return hasKind
}

// The documents of a file that say more than comments.
func documents(text []byte) [][]byte {
	var found [][]byte
	for _, part := range bytes.Split(text, []byte("\n---\n")) {
		for _, line := range strings.Split(string(part), "\n") {
			if trimmed := strings.TrimSpace(line); trimmed != "" && !strings.HasPrefix(trimmed, "#") {
				found = append(found, part)
				break
			}
		}
	}
	return found
}
