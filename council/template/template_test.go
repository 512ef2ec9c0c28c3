package template_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"kioku/council"
	"kioku/council/template"
	"kioku/memory"
)

// decode reads council.yaml strictly.
func decode(t *testing.T, raw []byte) council.Settings {
	t.Helper()
	var s council.Settings
	dec := yaml.NewDecoder(bytes.NewReader(raw))
	dec.KnownFields(true)
	if err := dec.Decode(&s); err != nil {
		t.Fatal(err)
	}
	return s
}

func TestWriteMakesACouncilThatIsValid(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "council")
	paths, err := template.Write(folder, "soul", template.Options{})
	if err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(filepath.Join(folder, "council.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	s := decode(t, raw)
	if err := s.Validate(); err != nil {
		t.Error(err)
	}
	if s.MinRounds != 2 || !s.Discuss {
		t.Errorf("%d rounds at least, discuss %t: the members do not discuss", s.MinRounds, s.Discuss)
	}
	if diff := cmp.Diff([]string{"panda", "gorilla", "triceratops"}, s.Roster()); diff != "" {
		t.Errorf("%s", diff)
	}
	for _, m := range s.Members {
		for _, name := range []string{"SOUL.md", "IDENTITY.md", "AGENTS.md", "MEMORY.md"} {
			if p := m.Workspace + "/" + name; !slices.Contains(paths, p) {
				t.Errorf("no %s", p)
			}
		}
		var params council.Params
		raw, err := os.ReadFile(filepath.Join(folder, "nodes", m.Name, "params.json"))
		if err != nil || json.Unmarshal(raw, &params) != nil || len(params) != len(council.ParamNames) || m.Model != "echo" {
			t.Errorf("%s: model %s, parameters %v, %v", m.Name, m.Model, params, err)
		}
	}
	info, err := os.Stat(filepath.Join(folder, "council.yaml"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}

func TestWriteNeverOverwrites(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	if err := os.MkdirAll(filepath.Join(folder, "members/panda"), 0o700); err != nil {
		t.Fatal(err)
	}
	mine := filepath.Join(folder, "members/panda/SOUL.md")
	if err := os.WriteFile(mine, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := template.Write(folder, "soul", template.Options{})
	if input := (*memory.InputError)(nil); !errors.As(err, &input) {
		t.Errorf("error %v", err)
	}
	if kept, _ := os.ReadFile(mine); string(kept) != "mine" {
		t.Errorf("SOUL.md is %q", kept)
	}
	if _, err := os.Stat(filepath.Join(folder, "council.yaml")); err == nil {
		t.Error("council.yaml was written beside a file that was there")
	}
}

func TestFilesQuoteTheModel(t *testing.T) {
	t.Parallel()
	for _, model := range []string{"claude-x", "yes", "qwen3:8b", "a: b # c", "x\nroles: [owner]", `"`} {
		all, err := template.Files("soul", template.Options{Model: model, Agent: "house"})
		if err != nil {
			t.Fatal(err)
		}
		s := decode(t, all["council.yaml"])
		if s.Members[1].Model != model || s.Agent != "house" || len(s.Members[1].Roles) != 2 {
			t.Errorf("%q became %+v", model, s.Members[1])
		}
	}
	if _, err := template.Files("senate", template.Options{}); err == nil {
		t.Error("a template that does not exist has files")
	}
}

// The template has every setting of council.yaml: those that are comments count once their # is taken away.
func TestTemplateHasEverySetting(t *testing.T) {
	t.Parallel()
	files, err := template.Files("soul", template.Options{})
	if err != nil {
		t.Fatal(err)
	}
	all := regexp.MustCompile(`(?m)^#( *(?:- )?[\w-]+:)`).ReplaceAll(files["council.yaml"], []byte("$1"))
	decode(t, all)
	var tree map[string]any
	if err := yaml.Unmarshal(all, &tree); err != nil {
		t.Fatal(err)
	}
	wantSettings(t, "", reflect.TypeFor[council.Settings](), tree)
}

// wantSettings fails for each key of a type that a tree of settings has nowhere.
func wantSettings(t *testing.T, path string, of reflect.Type, trees ...any) {
	t.Helper()
	switch of.Kind() {
	case reflect.Pointer:
		wantSettings(t, path, of.Elem(), trees...)
	case reflect.Slice, reflect.Map:
		var inner []any
		for _, tree := range trees {
			switch at := tree.(type) {
			case []any:
				inner = append(inner, at...)
			case map[string]any:
				inner = append(inner, slices.Collect(maps.Values(at))...)
			}
		}
		wantSettings(t, path, of.Elem(), inner...)
	case reflect.Struct:
		for field := range of.Fields() {
			key, _, _ := strings.Cut(field.Tag.Get("yaml"), ",")
			var inner []any
			for _, tree := range trees {
				if value, ok := tree.(map[string]any)[key]; ok {
					inner = append(inner, value)
				}
			}
			if len(inner) == 0 {
				t.Errorf("council.yaml of the template does not name %s%s", path, key)
				continue
			}
			wantSettings(t, path+key+".", field.Type, inner...)
		}
	}
}
