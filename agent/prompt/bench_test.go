package prompt_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"kioku/agent/bootstrap"
	"kioku/agent/prompt"
	"kioku/agent/skills"
)

// house makes a workspace with all files and 150 skills, none of them changed lately.
func house(b *testing.B) string {
	b.Helper()
	dir := b.TempDir()
	long := strings.Repeat("A line of some words, as people write them.\n", 500)
	paths := map[string]string{}
	for _, name := range bootstrap.Names() {
		paths[filepath.Join(dir, name)] = long
	}
	for i := range 150 {
		name := fmt.Sprintf("skill-%03d", i)
		paths[filepath.Join(dir, "skills", name, "SKILL.md")] = "---\nname: " + name + "\ndescription: does what it does\nrequires: {anyBins: [sh, ls]}\n---\n" + long[:2000]
	}
	old := time.Now().Add(-time.Hour)
	for path, text := range paths {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			b.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			b.Fatal(err)
		}
		if err := os.Chtimes(path, old, old); err != nil {
			b.Fatal(err)
		}
	}
	return dir
}

// BenchmarkATurnsPrompt is all that a turn's prompt costs beside the search: the look at 8 files and 150 skills on the
// disk, and the layers with their tokens.
func BenchmarkATurnsPrompt(b *testing.B) {
	dir := house(b)
	files, all := bootstrap.New(bootstrap.Options{Workspace: dir}), skills.New(skills.Options{Workspace: dir})
	in := everything()
	in.Counter = prompt.Remember(prompt.Estimate{})
	var took []time.Duration
	for b.Loop() {
		begin := time.Now()
		in.Files = files.Load(bootstrap.Full, false)
		set := all.Load()
		in.Skills, in.SkillsShort = set.Block, set.Names
		in.Now = in.Now.Add(time.Minute)
		r := prompt.Assemble(in)
		took = append(took, time.Since(begin))
		if len(r.Prompt) < 100_000 || len(set.Skills) != 150 {
			b.Fatalf("%d bytes, %d skills", len(r.Prompt), len(set.Skills))
		}
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds()), "p50-µs")
	b.ReportMetric(float64(took[len(took)*95/100].Microseconds()), "p95-µs")
}
