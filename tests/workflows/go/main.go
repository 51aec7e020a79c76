// Reads the workflows of a repository as GitHub would, and prints what is wrong with each, as actionlint finds it.
package main

import (
	"fmt"
	"os"

	"github.com/rhysd/actionlint"
)

func main() {
	linter, err := actionlint.NewLinter(os.Stdout, &actionlint.LinterOptions{})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(64)
	}
	found, err := linter.LintFiles(os.Args[1:], nil)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(64)
	}
	if len(found) > 0 {
		os.Exit(1)
	}
}
