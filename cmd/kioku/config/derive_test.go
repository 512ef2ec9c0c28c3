package config_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kioku/cmd/kioku/config"
)

func TestDeriveIsOffByDefault(t *testing.T) {
	t.Parallel()
	if d := config.Default().Derive; d.Enabled || d.Model != config.DeriveNoModel {
		t.Errorf("%+v", d)
	}
}

func TestDeriveSettings(t *testing.T) {
	t.Parallel()
	c := load(t, write(t, `derive:
  enabled: true
  llm: {model: small, maxSensitivity: normal}
  maxTokensPerDay: 5000
  reflect: true
  export: {dir: views/kioku/}
  private: [memory/family/**]
  predicates: {drinks: set, drives: exclusive}
  recall: {llmMs: 2500}
`))
	want := config.Derive{
		Enabled: true, Model: "small", MaxSensitivity: "normal", MaxTokensPerDay: 5000, Reflect: true,
		ExportDir: "views/kioku", Private: []string{"memory/family/**"},
		Predicates: map[string]string{"drinks": "set", "drives": "exclusive"}, Recall: 2500 * time.Millisecond,
	}
	if diff := cmp.Diff(want, c.Derive); diff != "" {
		t.Error(diff)
	}
}

// Views are never written to where notes are indexed, and never outside of the workspace.
func TestDeriveRefusesWhatMakesNoSense(t *testing.T) {
	t.Parallel()
	for text, key := range map[string]string{
		"derive: {export: {dir: memory/derived}}": "derive.export.dir",
		"derive: {export: {dir: Memory}}":         "derive.export.dir",
		"derive: {export: {dir: ../out}}":         "derive.export.dir",
		"derive: {export: {dir: /tmp}}":           "derive.export.dir",
		"derive: {export: {dir: .}}":              "derive.export.dir",
		"derive: {predicates: {drinks: many}}":    "derive.predicates",
		"derive: {private: ['[']}":                "derive.private",
		"derive: {llm: {maxSensitivity: secret}}": "derive.llm.maxSensitivity",
	} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			if _, err := config.Load(write(t, text+"\n")); err == nil || !strings.Contains(err.Error(), key) {
				t.Errorf("the error is %v, want one about %s", err, key)
			}
		})
	}
}
