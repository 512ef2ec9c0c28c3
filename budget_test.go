package kioku_test

import (
	"bytes"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
)

// budgets are the most lines of Go that rooms may have, without tests, what only tests import and what is generated, folders below them included unless they have
// a figure of their own. Growth is a decision: whoever raises a figure says in the commit what it buys.
var budgets = map[string]int{
	".":                 2_885, // forgets and corrects what is said, and shows it nowhere; gives and takes vectors
	"memory":            2_410, // with what the user keeps, in prompts, with forgetting, and with the JSON names of what is derived and of operations, by which the index, services and commands know it
	"note":              3_925, // forgets, tidies, proposes and merges notes; knows sentences over several lines
	"indexer":           4_480,
	"chunker":           2_600,
	"search":            5_350,
	"search/analysis":   2_230,
	"search/dates":      2_100,
	"store":             5_300,
	"store/slab":        2_310,
	"store/checksumvfs": 190,
	"vectors":           2_200,
	"embed":             2_800,
	"embed/local":       4_300,
	"history":           1_800,
	"atlas":             1_300,
	"bench":             1_400,
	"internal":          4_120, // with sentences, out of chunker, with the lock of a file that keeps its name, out of note and derive, and with buildflags, which says what a plain go install lacks
	"internal/records":  450,   // out of council/folder, council/member and agent/turns
	"pgstore":           1_090, // gives up what waits for a standby without cancelling it; knows a former primary, and which databases other nodes name
	"derive/store":      3_690,
	"council":           10_890, // on its way to 8,200; import of results, rebuild requests and logs, members elsewhere look things up, a person reports what a program could not do
	"llm":               4_190,  // with ask, for council and derive
	"server/web":        1_450,  // tells which views have something to show, and what notes are called
}

// Each room keeps to its figure.
func TestBudget(t *testing.T) {
	t.Parallel()
	lines := map[string]int{}
	for _, p := range list(t) {
		room := roomOf(place(p.ImportPath))
		if room == "" {
			continue
		}
		for _, name := range append(p.GoFiles, p.CgoFiles...) {
			text, err := os.ReadFile(filepath.Join(p.Dir, name))
			if err != nil {
				t.Fatal(err)
			}
			lines[room] += bytes.Count(text, []byte("\n"))
		}
	}
	for room, most := range budgets {
		if lines[room] > most {
			t.Errorf("%s has %d lines, and its budget is %d: take something out, or raise the figure and say what for", room, lines[room], most)
		}
		if lines[room] < most*9/10 {
			t.Errorf("%s has %d lines: lower its budget of %d, so that it stays so", room, lines[room], most)
		}
	}
}

// The root is the engine: at most 12 files, so that a reader can name them.
func TestRootHasFewFiles(t *testing.T) {
	t.Parallel()
	for _, p := range list(t) {
		if files := append(p.GoFiles, p.CgoFiles...); place(p.ImportPath) == "." && len(files) > 12 {
			t.Errorf("the root has %d files without tests: %v", len(files), files)
		}
	}
}

// roomOf returns the room that a folder counts for, "" if none does, as for one that only tests import.
func roomOf(folder string) string {
	if name := path.Base(folder); strings.HasSuffix(name, "test") || name == "testkit" {
		return ""
	}
	for room := folder; ; room = room[:strings.LastIndexByte(room, '/')] {
		if budgets[room] > 0 {
			return room
		}
		if !strings.Contains(room, "/") {
			return ""
		}
	}
}
