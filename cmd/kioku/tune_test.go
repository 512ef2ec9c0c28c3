package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// tuneSettings have a comment, a key that has nothing to do with tuning, and a line that lets nearly everything pass.
const tuneSettings = "# ours\ninclude: ['*.md'] # all\nquery:\n  # few\n  maxResults: 4\n  minKeywordScore: 0.01 # loose\n  weakResults: false\n"

// tuneSandbox has 24 notes and golden.yaml with a question on each of them, and some questions with one word of a note that no
// note answers.
func tuneSandbox(t *testing.T, answered, strangers int) *sandbox {
	t.Helper()
	s := newSandbox(t, map[string]string{".kioku.yaml": tuneSettings, "MEMORY.md": "# Memory\n"})
	things := []string{"boiler", "ferry", "guitar", "ladder", "passport", "bicycle", "teapot", "lantern", "mattress", "printer", "violin", "wardrobe",
		"hammock", "freezer", "trumpet", "carpet", "shovel", "curtain", "mirror", "kettle", "pillow", "basket", "hammer", "candle"}
	var golden strings.Builder
	for i, thing := range things {
		s.write(thing+".md", fmt.Sprintf("# %s\n\nWe bought the %s in Town%d from a dealer, and it cost %d crowns.\n", thing, thing, i, 100+i))
		if i < answered {
			fmt.Fprintf(&golden, "- question: Where was the %s bought?\n  path: %s.md\n", thing, thing)
		}
		if i < strangers {
			fmt.Fprintf(&golden, "- question: Which famous painter, composer or novelist admired a %s during exile abroad?\n  none: true\n", thing)
		}
	}
	s.write("golden.yaml", golden.String())
	return s
}

// settings returns the text of the sandbox's .kioku.yaml.
func (s *sandbox) settings() string {
	s.t.Helper()
	text, err := os.ReadFile(filepath.Join(s.workspace, ".kioku.yaml"))
	if err != nil {
		s.t.Fatal(err)
	}
	return string(text)
}

// kioku tune writes what gains on held-out halves to .kioku.yaml, keeps its comments and other keys, and shows the difference
// before; --dry-run only shows it. A second run finds nothing to gain.
func TestTuneWritesAGain(t *testing.T) {
	t.Parallel()
	s := tuneSandbox(t, 24, 12)
	dry := s.must("tune", "--dry-run")
	for _, want := range []string{"now 24 of 24 24 1.000 0 of 12", "tuned 24 of 24 24 1.000 12 of 12", "- minKeywordScore: 0.01 # loose", "+ minKeywordScore: 0.", "Nothing is written."} {
		if !strings.Contains(strings.Join(strings.Fields(dry), " "), want) {
			t.Errorf("%q is missing in\n%s", want, dry)
		}
	}
	if got := s.settings(); got != tuneSettings {
		t.Errorf("--dry-run has written\n%s", got)
	}
	s.run("tune").wants(t, exitOK, "written to")
	got := s.settings()
	for _, want := range []string{"# ours\n", "# all\n", "  # few\n  maxResults: 4\n", "# loose\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is gone from\n%s", want, got)
		}
	}
	if strings.Contains(got, "0.01") {
		t.Errorf("nothing is written:\n%s", got)
	}
	if again := s.must("tune"); !strings.Contains(again, "kept: ") || s.settings() != got {
		t.Errorf("%s", again)
	}
}

// topics are sentences of which the small trained model knows the words.
var topics = []string{"caffeinate so that the screen stays on and the battery drains", "support cancels the order and the invoice", "boil the pasta and fry garlic in olive oil"}

// With vectors, tune fits their weight: each question has the topic of other notes, and only a word tells which note is meant.
func TestTuneFitsTheWeightOfVectors(t *testing.T) {
	t.Parallel()
	s := tuneSandbox(t, 0, 0)
	var golden strings.Builder
	for i := range 24 {
		s.write(fmt.Sprintf("note%d.md", i), fmt.Sprintf("Number zq%dx: %s.\n", i, topics[i%3]))
		fmt.Fprintf(&golden, "- question: zq%dx %s\n  path: note%d.md\n", i, []string{"battery", "invoice", "garlic"}[(i+1)%3], i)
	}
	s.write("golden.yaml", golden.String())
	s.write(".kioku.yaml", "include: ['*.md']\nquery:\n  hybrid:\n    vectorWeight: 1 # all\n    textWeight: 0\n  minScore: 0\n")
	s.must("model", "add", staticModel(t, "tiny"))
	s.must("index")
	var got shownTuning
	out := s.must("tune", "--json")
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatal(err)
	}
	if !got.Gain || !got.Vectors || got.LineTuned || got.Settings.VectorWeight == nil || got.Tuned.MRR <= got.Now.MRR || got.Words.MRR <= got.Now.MRR {
		t.Fatalf("%s", out)
	}
	if text := s.settings(); !strings.Contains(text, fmt.Sprintf("vectorWeight: %v # all", *got.Settings.VectorWeight)) || strings.Contains(text, "textWeight: 0\n") {
		t.Errorf("%s", text)
	}
}

// Without a gain nothing is written, and the figures say so.
func TestTuneWritesNothingWithoutAGain(t *testing.T) {
	t.Parallel()
	s := tuneSandbox(t, 24, 12)
	s.write(".kioku.yaml", "include: ['*.md']\nquery:\n  minKeywordScore: 0.18\n")
	before := s.settings()
	if got := s.must("tune"); !strings.Contains(got, "kept: ") || !strings.Contains(got, "24 of 24") || s.settings() != before {
		t.Errorf("%s\n%s", got, s.settings())
	}
}

func TestTuneSaysWhatItNeeds(t *testing.T) {
	t.Parallel()
	s := tuneSandbox(t, 7, 12)
	s.run("tune").wants(t, exitUsage, "7 of them have an answer, and 20 are needed")
	s.run("tune", "--golden", "nonesuch.yaml").wants(t, exitUsage, "there is no ", "docs/bench.md")
	s.run("tune", "--set", "query.minScore=0.4").wants(t, exitUsage, "query.minScore is set by")
	s.write("golden.yaml", "- question: q\n  path: nonesuch.md\n")
	s.run("tune").wants(t, exitError, "golden.yaml:1: nonesuch.md is not a file of this memory")
}
