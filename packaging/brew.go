package main

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"text/template"
)

//go:embed kioku.rb.tmpl
var formulaText string

// formula fills in the formula for Homebrew, which builds the archive of the sources.
func formula(r release) error {
	archive := fmt.Sprintf("kioku-%s-source.tar.gz", r.version)
	sources, err := os.ReadFile(filepath.Join(r.out, archive))
	if err != nil {
		return err
	}
	t, err := template.New("kioku.rb").Parse(formulaText)
	if err != nil {
		return err
	}
	var text bytes.Buffer
	err = t.Execute(&text, map[string]string{
		"GitHub": r.github, "Version": r.version, "Number": semver(r.version), "Archive": archive, "SHA256": fmt.Sprintf("%x", sha256.Sum256(sources)),
	})
	if err != nil {
		return err
	}
	return r.write("kioku.rb", text.Bytes())
}
