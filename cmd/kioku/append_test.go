package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"kioku/cmd/kioku/config"
)

// Hazard F09: what is typed at the command line is the user's, also if processes write at once.
func TestAppendWaitsForOthers(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, notes())
	const n = 8
	var group sync.WaitGroup
	outcomes := make([]outcome, n)
	for i := range n {
		group.Go(func() { outcomes[i] = s.run("append", fmt.Sprintf("note <%d>", i)) })
	}
	group.Wait()
	for _, got := range outcomes {
		got.wants(t, exitOK)
	}
	files, err := filepath.Glob(filepath.Join(s.workspace, "memory", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(text)
	}
	for i := range n {
		if strings.Count(all.String(), fmt.Sprintf("note <%d> <!-- kioku from=user -->\n", i)) != 1 {
			t.Errorf("note %d is not there once, as the user's", i)
		}
	}
}

// Hazard K07: a note goes to the day of the zone that TZ names, in every form of it; of one that is unknown every command tells.
func TestAppendWritesToTheDayOfTheZone(t *testing.T) {
	t.Parallel()
	for _, tz := range []string{"JST-9", "<+14>-14", "XXX+12", ":Asia/Tokyo", ""} {
		s := newSandbox(t, nil)
		s.env = append(s.env, "TZ="+tz)
		zone, err := config.SystemZone(tz)
		if err != nil {
			t.Fatal(err)
		}
		before := time.Now().In(zone).Format(time.DateOnly)
		s.must("append", "a note")
		after := time.Now().In(zone).Format(time.DateOnly)
		if files, _ := filepath.Glob(filepath.Join(s.workspace, "memory", "*.md")); len(files) != 1 || !strings.Contains(files[0], before) && !strings.Contains(files[0], after) {
			t.Errorf("TZ=%s: %q, want %s", tz, files, before)
		}
	}
	s := newSandbox(t, notes())
	s.env = append(s.env, "TZ=America/Nope")
	for _, args := range [][]string{{"append", "a note"}, {"search", "boiler"}, {"doctor"}} {
		if got := s.run(args...); strings.Count(got.stderr, `"America/Nope" is not a time zone`) != 1 || args[0] == "doctor" && !strings.Contains(got.stdout, "America/Nope") {
			t.Errorf("%q: %+v", args, got)
		}
	}
}
