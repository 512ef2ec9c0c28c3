package kioku

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"kioku/internal/testkit"
	"kioku/memory"
)

// subjects are the texts of notes about three things; %d makes each its own.
var subjects = map[string][]string{
	"garden": {"The tomatoes in the garden need water and compost, row %d.", "Compost for the garden: tomatoes, beans and more water, bed %d.", "Beans climb, tomatoes ripen, the compost heap of garden %d is warm."},
	"server": {"The database server restarted; replica %d of the database lagged behind.", "Deploy %d: the server migrates the database before the replica.", "A slow query on database replica %d blocked the server."},
	"日記":     {"東京の図書館でデータベースの本を借りた。%d冊目。", "図書館は静かで、データベースの授業の準備をした。%d回。", "雨の日は東京の図書館にいる。第%d週。データベースも少し。"},
}

// writeSubjects writes n notes about each subject into the workspace.
func writeSubjects(t *testing.T, dir string, n int) {
	t.Helper()
	for name, texts := range subjects {
		for i := range n {
			text := fmt.Sprintf(texts[i%len(texts)], i)
			testkit.WriteFile(t, dir, fmt.Sprintf("memory/%s/%d.md", name, i), "# "+name+"\n\n"+text+"\n")
		}
	}
}

// mapOf returns the map of a memory once it is ready, and what it said while it was made.
func mapOf(t *testing.T, m *Memory, q memory.MapQuery) memory.Map {
	t.Helper()
	for ctx := t.Context(); ; {
		got, err := m.Map(ctx, q)
		if err != nil || got.Err != nil {
			t.Fatal(err, got.Err)
		}
		if !got.Computing {
			return got
		}
		if got.Phase == "" || got.Progress < 0 || got.Progress > 1 {
			t.Errorf("it is being made, but the phase is %q and the progress %v", got.Phase, got.Progress)
		}
		select {
		case <-time.After(time.Millisecond):
		case <-ctx.Done():
			t.Fatal(ctx.Err())
		}
	}
}

// The map has a point for each chunk, those about the same near each other, in clusters that are named by the words of their texts, also
// Japanese ones: words, not stems and not bigrams.
func TestMapPutsNotesAboutTheSameTogether(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	writeSubjects(t, dir, 40)
	m := synced(t, Options{Workspace: dir})
	got := mapOf(t, m, memory.MapQuery{})
	if len(got.Points) != 120 || got.TotalChunks != 120 || got.Basis != memory.MapOfTerms || got.Version == "" {
		t.Fatalf("%d points of %d chunks by %q, version %q", len(got.Points), got.TotalChunks, got.Basis, got.Version)
	}
	near, far := meanDistances(got)
	if near*3 > far {
		t.Errorf("points of a folder are %.3f apart, those of two %.3f", near, far)
	}
	names := map[string]string{}
	for _, p := range got.Points {
		if p.Cluster >= 0 {
			names[folder(got, p)] += strings.Join(got.Clusters[p.Cluster].Terms, " ") + " "
		}
	}
	for folder, want := range map[string]string{"garden": "tomatoes", "server": "replica", "日記": "図書館"} {
		if !strings.Contains(names[folder], want) {
			t.Errorf("the clusters of %s are named %.200q, without %q", folder, names[folder], want)
		}
	}
	for _, c := range got.Clusters {
		for _, term := range c.Terms {
			if slices.Contains([]string{"tomato", "databas", "書館", "図書", "デー", "ベー"}, term) {
				t.Errorf("a name is a stem or a bigram: %q", c.Terms)
			}
		}
	}
}

// folder returns the folder of a point below memory/.
func folder(m memory.Map, p memory.MapPoint) string {
	return strings.Split(m.Files[p.File].Path, "/")[1]
}

// meanDistances returns the mean distance of points of the same folder and of different ones.
func meanDistances(m memory.Map) (same, different float64) {
	var n, k float64
	for i, p := range m.Points {
		for _, q := range m.Points[:i] {
			d := math.Hypot(float64(p.X-q.X), float64(p.Y-q.Y))
			if folder(m, p) == folder(m, q) {
				same, n = same+d, n+1
			} else {
				different, k = different+d, k+1
			}
		}
	}
	return same / n, different / k
}

// With a provider the map is one of vectors. A small change leaves the points about where they are and puts the new ones among their
// neighbors; the same map is not sent twice.
func TestMapStaysAfterASmallChange(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	writeSubjects(t, dir, 40)
	_, client := openAI(t)
	var ahead atomic.Int64
	m := synced(t, Options{Workspace: dir, Embedder: client, Now: func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }})
	before := mapOf(t, m, memory.MapQuery{})
	if before.Basis != memory.MapOfVectors {
		t.Fatalf("it is a map by %q", before.Basis)
	}
	known, err := m.Map(t.Context(), memory.MapQuery{KnownVersion: before.Version})
	if err != nil || known.Computing || len(known.Points)+len(known.Files)+len(known.Clusters) > 0 || known.Version != before.Version {
		t.Errorf("%v; of a map that the caller has, %d points came", err, len(known.Points))
	}
	testkit.WriteFile(t, dir, "memory/garden/new.md", "# garden\n\nThe tomatoes in the garden need water and compost, row 77.\n")
	if _, err := m.Sync(t.Context(), SyncOptions{}, nil); err != nil {
		t.Fatal(err)
	}
	ahead.Store(int64(time.Hour))
	after := mapOf(t, m, memory.MapQuery{KnownVersion: before.Version})
	if len(after.Points) != 121 {
		t.Fatalf("%d points", len(after.Points))
	}
	places := map[string]memory.MapPoint{}
	for _, p := range before.Points {
		places[before.Files[p.File].Path] = p
	}
	var moved []float64
	for _, p := range after.Points {
		path := after.Files[p.File].Path
		if was, ok := places[path]; ok {
			moved = append(moved, math.Hypot(float64(p.X-was.X), float64(p.Y-was.Y)))
		} else if nearestFolder(before, p) != "garden" {
			t.Errorf("the new note is among those of %q", nearestFolder(before, p))
		}
	}
	slices.Sort(moved)
	if t.Logf("moved by %.3f in the median, %.3f at most", moved[60], moved[119]); len(moved) != 120 || moved[60] > 0.15 {
		t.Errorf("%d points have moved by %.3f in the median", len(moved), moved[60])
	}
}

// nearestFolder returns the folder of the point of a map that is nearest to a place.
func nearestFolder(m memory.Map, at memory.MapPoint) string {
	best := slices.MinFunc(m.Points, func(a, b memory.MapPoint) int {
		if math.Hypot(float64(a.X-at.X), float64(a.Y-at.Y)) < math.Hypot(float64(b.X-at.X), float64(b.Y-at.Y)) {
			return -1
		}
		return 1
	})
	return folder(m, best)
}

// Above the limit the map is a sample of all files, which the number of chunks tells.
func TestMapSamplesAllFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	long := strings.Repeat("A line about nothing in particular, as long as others are.\n\n", 400)
	testkit.WriteFile(t, dir, "memory/long.md", long)
	writeSubjects(t, dir, 5)
	m := synced(t, Options{Workspace: dir})
	all := mapOf(t, m, memory.MapQuery{})
	if len(all.Points) < 20 || len(all.Points) != all.TotalChunks {
		t.Fatalf("%d points of %d", len(all.Points), all.TotalChunks)
	}
	some := mapOf(t, m, memory.MapQuery{MaxPoints: 18})
	files := map[int]bool{}
	for _, p := range some.Points {
		files[p.File] = true
	}
	if len(some.Points) != 18 || len(files) != 16 || some.TotalChunks != all.TotalChunks || some.Version == all.Version {
		t.Errorf("%d points of %d files, %d chunks", len(some.Points), len(files), some.TotalChunks)
	}
	if _, err := m.Map(t.Context(), memory.MapQuery{MaxPoints: 20_001}); err == nil {
		t.Error("more points than there may be are accepted")
	}
}

// An empty memory has an empty map, and closing a memory ends the making of one.
func TestMapOfNothingAndAtTheEnd(t *testing.T) {
	t.Parallel()
	empty := synced(t, Options{Workspace: t.TempDir()})
	if got := mapOf(t, empty, memory.MapQuery{}); len(got.Points) != 0 || got.Version == "" {
		t.Errorf("%d points, version %q", len(got.Points), got.Version)
	}
	dir := t.TempDir()
	writeSubjects(t, dir, 100)
	m := synced(t, Options{Workspace: dir})
	if got, err := m.Map(context.Background(), memory.MapQuery{}); err != nil || !got.Computing {
		t.Fatalf("%v, computing %v", err, got.Computing)
	}
	if err := m.Close(); err != nil {
		t.Error(err)
	}
}

// After a map the next one waits ten times as long as that took, however often the notes change and whoever asks (D12).
func TestMapRestsBetweenTwo(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	writeSubjects(t, dir, 5)
	var ahead atomic.Int64
	begin := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	m := synced(t, Options{Workspace: dir, Now: func() time.Time { return begin.Add(time.Duration(ahead.Load())) }})
	before := mapOf(t, m, memory.MapQuery{})
	testkit.WriteFile(t, dir, "memory/new.md", "A new note about tea.\n")
	if _, err := m.Sync(t.Context(), SyncOptions{}, nil); err != nil {
		t.Fatal(err)
	}
	ahead.Store(int64(10*before.Took) - 1)
	if got, err := m.Map(t.Context(), memory.MapQuery{}); err != nil || got.Computing || got.Version != before.Version || got.TotalChunks != 16 {
		t.Errorf("%v; within the rest: computing %v, the same map %v, %d chunks", err, got.Computing, got.Version == before.Version, got.TotalChunks)
	}
	ahead.Store(int64(10 * before.Took))
	if got := mapOf(t, m, memory.MapQuery{}); len(got.Points) != 16 {
		t.Errorf("after the rest the map has %d points", len(got.Points))
	}
}

// A day has the notes and the chunks with its date, also of an entry in a long note, and the files that were changed on it. A file
// without a day is one that no day has.
func TestActivityCountsTheNotesOfEachDay(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	testkit.WriteFile(t, dir, "memory/2026-03-01.md", "# 2026-03-01\n\nTea.\n")
	testkit.WriteFile(t, dir, "memory/2026-03-02.md", "# 2026-03-02\n\nCoffee.\n")
	testkit.WriteFile(t, dir, "memory/2026-03-02-trip.md", "The trip.\n")
	testkit.WriteFile(t, dir, "MEMORY.md", "Facts.\n")
	testkit.WriteFile(t, dir, "memory/log.md", "# Log\n\n## 2026-03-01\n\n"+strings.Repeat("More tea. ", 300)+"\n\n## 2026-03-04\n\n"+strings.Repeat("No tea. ", 300)+"\n")
	m := synced(t, Options{Workspace: dir})
	got, err := m.Activity(t.Context(), "", "")
	if err != nil {
		t.Fatal(err)
	}
	days := map[string]string{}
	changed := 0
	for _, d := range got.Days {
		changed += d.Changed
		if d.Notes > 0 {
			days[d.Date] = fmt.Sprint(d.Notes, " ", d.Chunks)
		}
	}
	if fmt.Sprint(days) != "map[2026-03-01:2 3 2026-03-02:2 2 2026-03-04:1 3]" || changed != 5 || got.Undated != 1 {
		t.Errorf("%v, %d changed, %d undated", days, changed, got.Undated)
	}
	if got, err = m.Activity(t.Context(), "2026-03-02", "2026-03-02"); err != nil || len(got.Days) != 1 || got.Days[0].Notes != 2 {
		t.Errorf("%v %v", got.Days, err)
	}
	if _, err = m.Activity(t.Context(), "March", ""); err == nil || !strings.Contains(err.Error(), "since") {
		t.Errorf("%v", err)
	}
}
