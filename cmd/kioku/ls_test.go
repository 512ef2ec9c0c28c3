package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// vault is a folder of notes that nobody made for Kioku.
func vault() map[string]string {
	return map[string]string{
		"projects/Heron.md": "---\ntitle: Heron watch\ntags: [birds, work/field]\nstatus: done\nrating: 4\ndate: 2026-01-20\n---\n# Heron\nIt nests by the [[Weir]], not by [[Pond|the pond]].\n",
		"projects/Otter.md": "---\ntags: [mammals]\nstatus: open\nrating: 9\n---\n# Otter\nIt swims at night.\n",
		"Weir.md":           "# Weir\nThe weir is by [the heron](projects/Heron.md). #place\n",
	}
}

// paths returns the paths that kioku ls prints with arguments.
func (s *sandbox) paths(args ...string) string {
	s.t.Helper()
	var list struct {
		Files []struct {
			Path, Title, Date string
			Tags              []string
			Chunks            int
		}
	}
	if out := s.must(append([]string{"ls", "--json"}, args...)...); json.Unmarshal([]byte(out), &list) != nil {
		s.t.Fatalf("%q: %s", args, out)
	}
	var all []string
	for _, f := range list.Files {
		all = append(all, fmt.Sprintf("%s|%s|%s|%s|%d", f.Path, f.Title, f.Date, strings.Join(f.Tags, ","), f.Chunks))
	}
	return strings.Join(all, "\n")
}

const (
	heronFile = "projects/Heron.md|Heron watch|2026-01-20|birds,work/field|1"
	otterFile = "projects/Otter.md|Otter||mammals|1"
	weirFile  = "Weir.md|Weir||place|1"
)

// kioku ls [glob] lists what is indexed with dates, titles, tags and chunks; --tag x, --where status=done restrict it.
func TestLsListsWhatIsIndexed(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, vault())
	for _, tc := range []struct {
		args []string
		want []string
	}{
		{nil, []string{weirFile, heronFile, otterFile}},
		{[]string{"projects"}, []string{heronFile, otterFile}},
		{[]string{"projects/"}, []string{heronFile, otterFile}},
		{[]string{"O*.md"}, []string{otterFile}},
		{[]string{"projects/**", "W*.md"}, []string{weirFile, heronFile, otterFile}},
		{[]string{filepath.Join(s.workspace, "Weir.md")}, []string{weirFile}},
		{[]string{"--tag", "birds"}, []string{heronFile}},
		{[]string{"--tag", "#work"}, []string{heronFile}},
		{[]string{"--where", "status=done"}, []string{heronFile}},
		{[]string{"--where", "Status != done", "projects"}, []string{otterFile}},
		{[]string{"--where", "status in done, open"}, []string{heronFile, otterFile}},
		{[]string{"--where", "rating>=5"}, []string{otterFile}},
		{[]string{"--where", "rating<5", "--tag", "birds"}, []string{heronFile}},
		{[]string{"--since", "2026-01"}, []string{heronFile}},
		{[]string{"nothing*"}, nil},
	} {
		if diff := cmp.Diff(strings.Join(tc.want, "\n"), s.paths(tc.args...)); diff != "" {
			t.Errorf("%q: %s", tc.args, diff)
		}
	}
	if out := s.must("ls", "projects/Heron.md"); out != "2026-01-20  1  projects/Heron.md  Heron watch  #birds  #work/field\n" {
		t.Errorf("got %q", out)
	}
	s.run("ls", "nothing*").wants(t, exitOK, "none of 3 files is selected")
	s.run("ls", "--where", "status").wants(t, exitUsage, `--where "status" is no condition; write it like status=done`)
	s.run("ls", "[").wants(t, exitUsage, "close every [")
	s.write("huge.md", strings.Repeat("x", 100))
	if out := s.must("ls", "--all", "--set", "maxFileBytes=99"); !strings.Contains(out, "huge.md") || !strings.Contains(out, "not indexed: ") {
		t.Errorf("got %s", out)
	}
}

// search --tag x and --where status=done restrict the results, and what excludes notes that lack the field says so.
func TestSearchFiltersByTagsAndFields(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, vault())
	if out := s.must("search", "heron", "--tag", "place"); !strings.Contains(out, "Weir.md") || strings.Contains(out, "Heron.md#") {
		t.Errorf("got %s", out)
	}
	got := s.run("search", "heron", "--where", "rating<=4")
	got.wants(t, exitOK, "kioku: 1 of 3 notes have no rating")
	if !strings.Contains(got.stdout, "projects/Heron.md#") || strings.Contains(got.stdout, "Weir.md#") {
		t.Errorf("got %s", got.stdout)
	}
}

// Conditions may be written as people write them: == for =, and quotes around a value.
func TestParseConditionTakesOtherSpellings(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"status==done": "status = done", `status = "done"`: "status = done", "status='in progress'": "status = in progress",
		`tags in "a",b`: "tags in a|b", "tags in [a, b]": "tags in a|b", "date>=2026": "date >= 2026",
	} {
		c, err := parseCondition(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if got := c.Field + " " + c.Op + " " + strings.Join(c.Values, "|"); got != want {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
	}
}

// kioku links NOTE gives links and backlinks; explain shows them.
func TestLinksShowsLinksAndBacklinks(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, vault())
	want := "projects/Heron.md\n  links to\n    line 9: Weir.md  Weir\n    line 9: Pond (no such note)  the pond\n  linked from\n    Weir.md:2  the heron\n"
	for _, name := range []string{"projects/Heron.md", "Heron", "Heron watch", filepath.Join(s.workspace, "projects/Heron.md")} {
		if diff := cmp.Diff(want, s.must("links", name)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	if out := s.must("links", "projects/Otter.md"); out != "projects/Otter.md\n  links to nothing\n  linked from nothing\n" {
		t.Errorf("got %q", out)
	}
	s.run("links", "Nowhere").wants(t, exitError)
	if out := s.must("explain", "heron", "projects/Heron.md:9"); !strings.Contains(out, want) {
		t.Errorf("got %s", out)
	}
}

// get takes a glob and several paths.
func TestGetTakesGlobsAndSeveralPaths(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, vault())
	s.write("odd [1].md", "odd\n")
	want := "==> projects/Otter.md <==\n# Otter\nIt swims at night.\n\n==> Weir.md <==\n# Weir\n"
	if diff := cmp.Diff(want, s.must("get", "projects/O*.md:6:2", "Weir.md:1:1")); diff != "" {
		t.Error(diff)
	}
	if out := s.must("get", "odd [1].md"); !strings.Contains(out, "odd\n") {
		t.Errorf("a name that looks like a glob: %s", out)
	}
	var list []map[string]any
	if err := json.Unmarshal([]byte(s.must("get", "--json", "projects/*.md")), &list); err != nil || len(list) != 2 || list[0]["path"] != "projects/Heron.md" {
		t.Errorf("got %v, %v", list, err)
	}
	got := s.run("get", "Weir.md", "gone.md")
	got.wants(t, exitError, "gone.md")
	if !strings.Contains(got.stdout, "The weir") {
		t.Errorf("the file that is there is not shown: %s", got.stdout)
	}
	s.run("get", "none*.md").wants(t, exitError, "none*.md selects no file; kioku ls lists what there is")
}

// init, status and an empty answer say how many Markdown files are not indexed and the one command that takes them in.
func TestUnindexedFilesAreToldWithTheCommandThatTakesThemIn(t *testing.T) {
	t.Parallel()
	for _, daemon := range []bool{false, true} {
		t.Run(fmt.Sprint("daemon ", daemon), func(t *testing.T) {
			t.Parallel()
			s := newSandbox(t, vault())
			s.write("MEMORY.md", "# Memory\n")
			if daemon {
				s.serve()
			}
			if out := s.must("init", s.workspace); !strings.Contains(out, "not indexed: 3") || !strings.Contains(out, "kioku index --all") {
				t.Errorf("init: %s", out)
			}
			if out := s.must("status"); !strings.Contains(out, "3 Markdown files not indexed; kioku index --all takes them in") {
				t.Errorf("status: %s", out)
			}
			s.run("search", "heron").wants(t, exitOK, "that the settings do not include: 3; kioku index --all takes them in")
			s.must("index", "--all")
			if out := s.must("search", "heron"); !strings.Contains(out, "projects/Heron.md") {
				t.Errorf("search: %s", out)
			}
			if out := s.must("status"); strings.Contains(out, "not indexed") {
				t.Errorf("status: %s", out)
			}
		})
	}
}

// index --all widens a narrower include of the folder, and keeps its other settings.
func TestIndexAllWidensWhatTheFolderIncludes(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, vault())
	s.write(".kioku.yaml", "# ours\ntimezone: UTC\ninclude: [projects/O*.md] # for now\n")
	if got := s.paths(); got != otterFile {
		t.Errorf("got %s", got)
	}
	s.must("index", "--all")
	if got := s.paths(); got != weirFile+"\n"+heronFile+"\n"+otterFile {
		t.Errorf("got %s", got)
	}
	if text, err := os.ReadFile(filepath.Join(s.workspace, ".kioku.yaml")); err != nil || !strings.Contains(string(text), "# ours\ntimezone: UTC\n") {
		t.Errorf("%v: %s", err, text)
	}
}

// init on an existing vault does not hide its notes.
func TestInitKeepsAWholeFolderWhole(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, vault())
	if out := s.must("init", s.workspace); !strings.Contains(out, "Created .kioku.yaml, MEMORY.md, USER.md, memory/") || strings.Contains(out, "not indexed") {
		t.Errorf("init: %s", out)
	}
	if out := s.must("search", "heron"); !strings.Contains(out, "projects/Heron.md") {
		t.Errorf("search: %s", out)
	}
	empty := newSandbox(t, nil)
	if out := empty.must("init", empty.workspace); !strings.Contains(out, "Created MEMORY.md, USER.md, memory/ in") {
		t.Errorf("init: %s", out)
	}
}

// What the settings do not include any more leaves the index, and comes back with them.
func TestFilesFollowTheSettings(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, vault())
	s.must("index")
	s.write(".kioku.yaml", "exclude: projects\n")
	if got := s.paths(); got != weirFile {
		t.Errorf("got %s", got)
	}
	s.write(".kioku.yaml", "exclude: []\n")
	if got := s.paths(); got != weirFile+"\n"+heronFile+"\n"+otterFile {
		t.Errorf("got %s", got)
	}
}

// The settings of a folder count for it, in commands and in a daemon that serves several folders.
func TestFolderSettingsCountForTheirFolder(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, vault())
	s.write(".kioku.yaml", "query: {maxResults: 1}\n")
	work := folder(t, vault())
	if got := s.object("search", "--json", "heron"); len(got["results"].([]any)) != 1 {
		t.Errorf("got %v", got["results"])
	}
	list := s.must("config", "list")
	if !strings.Contains(list, filepath.Join(s.workspace, ".kioku.yaml")+":1:9") {
		t.Errorf("config list does not show the file: %s", list)
	}
	s.must("config", "set", "--folder", "exclude", "projects/O*.md")
	s.must("config", "unset", "--folder", "query")
	if got := s.paths(); got != weirFile+"\n"+heronFile {
		t.Errorf("got %s", got)
	}
	s.write(".kioku.yaml", "query: {maxResults: 1}\n")
	p, _ := s.serve("--agent", "work="+work)
	for agent, want := range map[string]int{"main": 1, "work": 2} {
		var got struct{ Results []any }
		if out := s.raw("search", "--json", "heron", "--agent", agent, "--state", s.state).stdout; json.Unmarshal([]byte(out), &got) != nil || min(len(got.Results), 2) != want {
			t.Errorf("agent %s: %s", agent, out)
		}
	}
	s.write(".kioku.yaml", "query: {maxResults: 2}\n")
	p.hangsUp()
	p.waits(p.err, "read the settings again: 1 value changed")
	if got := s.object("search", "--json", "heron"); len(got["results"].([]any)) != 2 {
		t.Errorf("got %v", got["results"])
	}
	s.write(".kioku.yaml", "model: x\n")
	p.hangsUp()
	p.waits(p.err, "a workspace may not set this")
	s.run("status").wants(t, exitUsage, ".kioku.yaml:1:1: model: a workspace may not set this")
}

// hangsUp sends SIGHUP.
func (p *process) hangsUp() { p.signal(syscall.SIGHUP) }
