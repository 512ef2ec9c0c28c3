package skills_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"kioku/agent/skills"
)

// put writes the SKILL.md of a skill and returns its path.
func put(t testing.TB, dir, folder, text string) string {
	t.Helper()
	path := filepath.Join(dir, folder, "SKILL.md")
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// text is a SKILL.md of that name with further lines in its front matter.
func text(name, front, body string) string {
	return fmt.Sprintf("---\nname: %s\ndescription: does %s\n%s---\n%s", name, name, front, body)
}

// reasons returns the report as name to reason, with + for what is in the prompt.
func reasons(set skills.Set) map[string]string {
	out := map[string]string{}
	for _, e := range set.Report {
		out[e.Name] = e.Reason
		if e.InPrompt {
			out[e.Name] += "+"
		}
	}
	return out
}

func TestLoadShowsASkillWithAllThatAModelNeeds(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := put(t, filepath.Join(dir, "skills"), "tea", "---\nname: tea\ndescription: >\n  Makes tea\n  in a pot.\ninvocation: /tea\nlicence: none\n---\n\nBoil water.\n")
	put(t, filepath.Join(dir, "skills"), ".hidden", text("secret", "disable-model-invocation: true\nuser-invocable: false\n", "x"))
	os.MkdirAll(filepath.Join(dir, "skills", "empty"), 0o755)
	set := skills.New(skills.Options{Workspace: dir}).Load()
	want := []skills.Skill{
		{Name: "secret", Description: "does secret", Path: filepath.Join(dir, "skills", ".hidden", "SKILL.md"), Body: "x"},
		{Name: "tea", Description: "Makes tea in a pot.", Invocation: "/tea", Path: path, Body: "Boil water.", ModelInvocable: true},
	}
	if diff := cmp.Diff(want, set.Skills); diff != "" {
		t.Error(diff)
	}
	if !strings.HasSuffix(set.Block, "\n\n### Skill: tea\nDescription: Makes tea in a pot.\nInvocation: /tea\nLocation: "+path+"\n\nBoil water.") || set.Note != "" {
		t.Errorf("%s\n%s", set.Block, set.Note)
	}
	if strings.Contains(set.Block, "secret") {
		t.Error("a model is told of a skill that it may not use")
	}
	if diff := cmp.Diff(map[string]string{"tea": "+", "secret": "disable-model-invocation: only users may ask for it"}, reasons(set)); diff != "" {
		t.Error(diff)
	}
}

func TestLoadPrefersTheLaterFolder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	extra, work, project := filepath.Join(dir, "extra"), filepath.Join(dir, "work"), filepath.Join(dir, "project")
	dirs := []string{
		extra, filepath.Join(work, "skills"), filepath.Join(work, ".skills"), filepath.Join(work, ".agents", "skills"),
		filepath.Join(project, ".agents", "skills"), filepath.Join(project, "skills"),
	}
	l := skills.New(skills.Options{Extra: []string{extra}, Workspace: work, Project: project})
	for i, d := range dirs {
		put(t, d, "x", text("Same", "", fmt.Sprint("body ", i)))
		set := l.Load()
		if len(set.Skills) != 1 || set.Skills[0].Body != fmt.Sprint("body ", i) || len(set.Report) != i+1 {
			t.Fatalf("%d: %+v", i, set)
		}
		if e := set.Report[0]; i > 0 && !strings.Contains(e.Reason, "the skill of the same name in "+filepath.Join(d, "x")) {
			t.Errorf("%+v", e)
		}
	}
	// A folder that is named twice has its later place.
	set := skills.New(skills.Options{Workspace: work, Project: work}).Load()
	if len(set.Report) != 3 || set.Skills[0].Body != "body 1" {
		t.Errorf("one folder twice: %+v", set)
	}
}

func TestLoadRefusesSkillsThatCannotWorkHere(t *testing.T) {
	dir := t.TempDir()
	put := func(name, front string) { put(t, filepath.Join(dir, "skills"), name, text(name, front, "")) }
	put("bins", "requires: {bins: [git, nope]}\n")
	put("bins-ok", "requires:\n  bins: git\n")
	put("any", "requires: {anyBins: [nope, never]}\n")
	put("any-ok", "requires: {anyBins: [nope, git]}\n")
	put("env", "requires: {env: [TOKEN, EMPTY]}\n")
	put("env-ok", "requires: {env: TOKEN}\n")
	put("os", "os: [plan9, aix]\n")
	put("os-ok", "os: [macos, win32, Linux, FreeBSD]\n")
	put("path", "requires: {bins: [/bin/git]}\n")
	bin := t.TempDir()
	if err := os.WriteFile(filepath.Join(bin, "git"), nil, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin)
	t.Setenv("TOKEN", "1")
	t.Setenv("EMPTY", "")
	set := skills.New(skills.Options{Workspace: dir}).Load()
	want := map[string]string{
		"bins": "needs the program nope, which is not in PATH", "bins-ok": "+",
		"any": "needs one of the programs nope, never, of which none is in PATH", "any-ok": "+",
		"env": "needs the environment variable EMPTY", "env-ok": "+",
		"os": "is for plan9, aix, and this is " + runtime.GOOS, "os-ok": "+",
		"path": "needs the program /bin/git, which is not in PATH",
	}
	if diff := cmp.Diff(want, reasons(set)); diff != "" {
		t.Error(diff)
	}
}

func TestLoadSkipsBadFrontMatter(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, c := range map[string]struct{ text, want string }{
		"none":     {"# Tea\n", "first line is not ---"},
		"open":     {"---\nname: a\ndescription: b\n", "not closed"},
		"huge":     {"---\nname: a\nx: " + strings.Repeat("y", 20_000) + "\n---\n", "not closed by --- within 16384 bytes"},
		"broken":   {"---\nname: [a\n---\n", "front matter: yaml"},
		"list":     {"---\n- a\n---\n", "not a mapping"},
		"alias":    {"---\nname: &a x\ndescription: *a\n---\n", "anchors or aliases"},
		"twice":    {"---\nname: a\nname: b\ndescription: c\n---\n", "already defined"},
		"shape":    {"---\nname: a\ndescription: b\nrequires: {bins: {x: y}}\n---\n", "cannot unmarshal"},
		"flag":     {"---\nname: a\ndescription: b\ndisable-model-invocation: maybe\n---\n", "cannot unmarshal"},
		"noname":   {"---\ndescription: b\n---\n", "has no name"},
		"badname":  {"---\nname: a#b\ndescription: b\n---\n", "take letters"},
		"nothing":  {"---\nname: a\n---\n", "has no description"},
		"toolarge": {text("a", "", strings.Repeat("x", 256_000)), "larger than 250 KiB"},
	} {
		t.Run(name, func(t *testing.T) {
			put(t, filepath.Join(dir, "skills"), name, c.text)
			var entry skills.Entry
			set := skills.New(skills.Options{Workspace: dir}).Load()
			for _, e := range set.Report {
				if filepath.Base(filepath.Dir(e.Path)) == name {
					entry = e
				}
			}
			if entry.Loaded || entry.InPrompt || !strings.Contains(entry.Reason, c.want) || len(set.Skills) > 0 {
				t.Errorf("%+v", entry)
			}
		})
	}
}

func TestLoadSkipsALinkedSkill(t *testing.T) {
	t.Parallel()
	dir, out := t.TempDir(), t.TempDir()
	put(t, out, "real", text("real", "", ""))
	os.MkdirAll(filepath.Join(dir, "skills"), 0o755)
	if err := os.Symlink(filepath.Join(out, "real"), filepath.Join(dir, "skills", "linked")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(out, filepath.Join(dir, ".skills")); err != nil {
		t.Fatal(err)
	}
	set := skills.New(skills.Options{Workspace: dir}).Load()
	if diff := cmp.Diff(map[string]string{"linked": "symbolic link", "real": "symbolic link"}, reasons(set)); diff != "" {
		t.Error(diff)
	}
	// A folder that a person has named may be a link itself.
	set = skills.New(skills.Options{Extra: []string{filepath.Join(dir, ".skills")}}).Load()
	if diff := cmp.Diff(map[string]string{"real": "+"}, reasons(set)); diff != "" {
		t.Error(diff)
	}
}

func TestLoadBoundsTheSkillsTheStrongestFirst(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for i := range 5 {
		put(t, filepath.Join(dir, "skills"), fmt.Sprint("a", i), text(fmt.Sprint("weak", i), "", ""))
		put(t, filepath.Join(dir, ".skills"), fmt.Sprint("b", i), text(fmt.Sprint("strong", i), "", ""))
	}
	set := skills.New(skills.Options{Workspace: dir, MaxSkills: 7}).Load()
	if len(set.Skills) != 7 || strings.Count(set.Block, "### Skill: strong") != 5 || strings.Count(set.Block, "### Skill: weak") != 2 {
		t.Errorf("%d skills in\n%s", len(set.Skills), set.Block)
	}
	want := "Note: 3 more skills are installed and not shown, because there are too many for the prompt."
	if set.Note != want || !strings.Contains(set.Block, want) || !strings.Contains(set.Names, want[len("Note: "):]) {
		t.Errorf("the note is %q", set.Note)
	}
	if got := reasons(set)["weak0"]; got != "there are more than 7 skills" {
		t.Errorf("%q", got)
	}
}

func TestBlockIsShortenedInSteps(t *testing.T) {
	t.Parallel()
	var all [3]string
	for i := range all {
		all[i] = text(fmt.Sprint("skill-", i), "", strings.Repeat("words ", 40*(i+1)))
		all[i] = strings.Replace(all[i], "does", strings.Repeat("long ", 60), 1)
	}
	dir := t.TempDir()
	for i, s := range all {
		put(t, filepath.Join(dir, "skills"), fmt.Sprint(i), s)
	}
	whole := utf8.RuneCountInString(skills.New(skills.Options{Workspace: dir}).Load().Block)
	for _, c := range []struct {
		limit                  int
		descriptions, longBody bool
		shortBody              bool
		note                   string
	}{
		{whole, true, true, true, ""},
		{whole - 1, false, true, true, "3 descriptions are shortened to "},
		{whole - 600, false, false, true, "3 descriptions are shortened to 120 characters, and the instructions of 1 skills are left out"},
		{whole - 1700, false, false, false, "3 descriptions are shortened to 120 characters, and the instructions of 3 skills are left out"},
		{whole - 2050, false, false, false, "skills are listed without their location."},
	} {
		set := skills.New(skills.Options{Workspace: dir, MaxChars: c.limit}).Load()
		b := set.Block
		if n := utf8.RuneCountInString(b); n > c.limit || n == 0 {
			t.Errorf("%d: %d characters", c.limit, n)
		}
		got := []bool{strings.Contains(b, strings.Repeat("long ", 60)), strings.Contains(b, strings.Repeat("words ", 115)), strings.Contains(b, "words words")}
		if diff := cmp.Diff([]bool{c.descriptions, c.longBody, c.shortBody}, got); diff != "" {
			t.Errorf("%d: %s", c.limit, diff)
		}
		if !strings.Contains(set.Note, c.note) || !strings.Contains(b, set.Note) || (c.note == "") != (set.Note == "") {
			t.Errorf("%d: %q in\n%s", c.limit, set.Note, b)
		}
		if !strings.Contains(b, "skill-0") || !strings.Contains(b, "skill-2") {
			t.Errorf("%d: a name is missing", c.limit)
		}
	}
}

func TestBlockNeverExceedsItsLimit(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for i := range 150 {
		name := fmt.Sprintf("%s-%03d", strings.Repeat("n", 60), i)
		put(t, filepath.Join(dir, "skills"), name, text(name, "", strings.Repeat("body ", 300)))
	}
	for _, limit := range []int{30_000, 15_000, 5_000, 1_200, 10} {
		set := skills.New(skills.Options{Workspace: dir, MaxChars: limit}).Load()
		n := utf8.RuneCountInString(set.Block)
		if n > limit || limit > 1000 && n < limit/3 {
			t.Errorf("%d characters for a limit of %d", n, limit)
		}
		if utf8.RuneCountInString(set.Names) > limit {
			t.Errorf("the names are longer than %d", limit)
		}
	}
}

func TestLoadSeesChangesOfFilesAndOfTheMachine(t *testing.T) {
	dir, bin := t.TempDir(), t.TempDir()
	t.Setenv("PATH", bin)
	l := skills.New(skills.Options{Workspace: dir})
	sees := func(want ...string) {
		t.Helper()
		var got []string
		for _, s := range l.Load().Skills {
			got = append(got, s.Name+":"+s.Body)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	}
	sees()
	path := put(t, filepath.Join(dir, "skills"), "a", text("a", "requires: {bins: [tool], env: [KEY]}\n", "one"))
	sees()
	t.Setenv("KEY", "x")
	sees()
	if err := os.WriteFile(filepath.Join(bin, "tool"), []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	sees("a:one")
	put(t, filepath.Join(dir, "skills"), "a", text("a", "", "two"))
	put(t, filepath.Join(dir, "skills"), "b", text("b", "", "new"))
	sees("a:two", "b:new")
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	sees("b:new")
}

func FuzzLoadTakesAnyFile(f *testing.F) {
	for _, s := range []string{text("a", "", "b"), "---\n---\n", "---\nname: [\n---", "", "---\nname: \"a\\nb\"\ndescription: |\n ## x\n---\n", "---\n? {}\n---\n", "---\nos:\n- []\n---"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		dir := t.TempDir()
		put(t, filepath.Join(dir, "skills"), "a", s)
		set := skills.New(skills.Options{Workspace: dir}).Load()
		if len(set.Report) != 1 || set.Report[0].Loaded != (len(set.Skills) == 1) || set.Report[0].Loaded && !utf8.ValidString(set.Block) {
			t.Errorf("%+v", set)
		}
		if len(set.Skills) == 1 && strings.ContainsAny(set.Skills[0].Name+set.Skills[0].Description, "\n\r") {
			t.Errorf("%+v", set.Skills[0])
		}
	})
}
