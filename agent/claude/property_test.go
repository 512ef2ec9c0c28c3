package claude_test

import (
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// model is what the files should be: text by path, and the paths of folders.
type model struct {
	files   map[string]string
	folders map[string]bool
}

func (m model) exists(name string) bool {
	_, file := m.files[name]
	return file || m.folders[name]
}

// fits reports whether something new can have a name.
func (m model) fits(name string) bool {
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		if _, file := m.files[dir]; file {
			return false
		}
	}
	return !m.exists(name)
}

func (m model) put(name, text string) {
	m.files[name] = text
	m.makeParents(name)
}

func (m model) makeParents(name string) {
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		m.folders[dir] = true
	}
}

// below reports whether a name is a path or in it.
func below(name, folder string) bool { return name == folder || strings.HasPrefix(name, folder+"/") }

func (m model) create(name, text string) bool {
	if !m.fits(name) {
		return false
	}
	m.put(name, text)
	return true
}

// day is the file of a day, to which text is only added.
const day = "2026-01-05.md"

func (m model) replace(name, old, new string) bool {
	text, ok := m.files[name]
	if !ok || name == day || old == "" || old == new || strings.Count(text, old) != 1 {
		return false
	}
	m.files[name] = strings.Replace(text, old, new, 1)
	return true
}

func (m model) insert(name string, line int, text string) bool {
	old, ok := m.files[name]
	lines := strings.SplitAfter(old, "\n")
	lines = slices.DeleteFunc(lines, func(l string) bool { return l == "" })
	if !ok || line > len(lines) || name == day && line < len(lines) {
		return false
	}
	m.files[name] = strings.Join(slices.Insert(lines, line, text+"\n"), "")
	return true
}

func (m model) remove(name string) bool {
	if !m.exists(name) || name == day {
		return false
	}
	maps.DeleteFunc(m.files, func(k, _ string) bool { return below(k, name) })
	maps.DeleteFunc(m.folders, func(k string, _ bool) bool { return below(k, name) })
	return true
}

func (m model) rename(from, to string) bool {
	if !m.exists(from) || below(to, from) || !m.fits(to) || from == day || to == day {
		return false
	}
	moved := model{files: maps.Clone(m.files), folders: maps.Clone(m.folders)}
	m.remove(from)
	for k, v := range moved.files {
		if below(k, from) {
			m.files[to+k[len(from):]] = v
		}
	}
	for k := range moved.folders {
		if below(k, from) {
			m.folders[to+k[len(from):]] = true
		}
	}
	m.makeParents(to)
	return true
}

// step draws a command, does it to the model, and returns it with whether it must succeed.
func (m model) step(r *rapid.T) (map[string]any, bool) {
	names := rapid.SampledFrom([]string{"a.md", "b.md", day, "sub", "sub/a.md", "sub/deep", "sub/deep/a.md"})
	// Whole lines, so that no text can occur in two places that overlap.
	texts := rapid.SampledFrom([]string{"one", "two", "three", "四"})
	name := names.Draw(r, "name")
	at := "/memories/" + name
	switch rapid.IntRange(0, 4).Draw(r, "command") {
	case 0:
		text := strings.Join(rapid.SliceOfN(texts, 0, 4).Draw(r, "lines"), "\n") + "\n"
		return create(at, text), m.create(name, text)
	case 1:
		old, new := texts.Draw(r, "old"), texts.Draw(r, "new")
		return replace(at, old, new), m.replace(name, old, new)
	case 2:
		line, text := rapid.IntRange(0, 4).Draw(r, "line"), texts.Draw(r, "text")
		return insert(at, line, text), m.insert(name, line, text)
	case 3:
		return remove(at), m.remove(name)
	}
	to := names.Draw(r, "to")
	return rename(at, "/memories/"+to), m.rename(name, to)
}

func TestCallsLoseNoTextAndStayInTheFolder(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		base, err := os.MkdirTemp(t.TempDir(), "")
		if err != nil {
			r.Fatal(err)
		}
		n := openIn(t, filepath.Join(base, "memory"), filepath.Join(base, "kept"), map[string]string{"../beside.md": "mine"})
		m := model{files: map[string]string{}, folders: map[string]bool{}}
		texts := map[string]bool{}
		for range rapid.IntRange(1, 15).Draw(r, "steps") {
			fields, may := m.step(r)
			if _, err := n.call(fields); (err == nil) != may {
				r.Fatalf("%v: %v, want success: %v", fields, err, may)
			}
			for _, text := range m.files {
				texts[text] = true
			}
			if diff := cmp.Diff(m.files, tree(t, n.folder)); diff != "" {
				r.Fatalf("%v (-want +got):\n%s", fields, diff)
			}
		}
		for _, files := range []map[string]string{tree(t, n.folder), tree(t, n.kept)} {
			for _, text := range files {
				delete(texts, text)
			}
		}
		// The file of a day only grows.
		maps.DeleteFunc(texts, func(text string, _ bool) bool { return strings.HasPrefix(m.files[day], text) })
		if len(texts) > 0 {
			r.Fatalf("texts that are nowhere any more: %q", slices.Collect(maps.Keys(texts)))
		}
		outside := tree(t, base)
		maps.DeleteFunc(outside, func(k, _ string) bool { return below(k, "memory") || below(k, "kept") })
		if diff := cmp.Diff(map[string]string{"beside.md": "mine"}, outside); diff != "" {
			r.Fatalf("outside of the folder (-want +got):\n%s", diff)
		}
	})
}
