package engine_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"kioku/council"
	"kioku/council/counciltest"
	"kioku/council/engine"
	"kioku/council/member"
	"kioku/internal/testkit"
)

// play is a council in a folder that does the same whenever it is asked to: what was done before is not done again.
type play struct {
	dir   string
	clock *counciltest.Clock
	e     *engine.Engine
	quiet func(context.Context) error
}

// playSettings are those of the play: tasks are answered and reviewed.
func playSettings(dir string) council.Settings {
	s := counciltest.Settings(dir, 3)
	s.Execution = council.Execution{Mode: council.ModeAnswer, Review: true}
	s.Workers = []string{"bot"}
	return s
}

// playScript rejects task_2, and has two members move a parameter of the third.
func playScript() *counciltest.Script {
	s := &counciltest.Script{}
	s.Answer = func(_ context.Context, q member.Question) (member.Reply, error, bool) {
		switch {
		case q.Phase == "opinion" && q.Task.ID == "task_2":
			return member.Reply{Ballot: &council.Ballot{Node: q.Member, Round: q.Round, Vote: council.VoteReject, Opinion: "no"}}, nil, true
		case q.Phase == "evaluation" && q.Target == "cat":
			return member.Reply{Evaluation: &council.Evaluated{NeedsRetuning: true, SuggestedParams: council.Params{"thoroughness": 0.9}}}, nil, true
		}
		return member.Reply{}, nil, false
	}
	return s
}

// known returns nil for errors that say that a step was done before.
func known(err error) error {
	for _, done := range []error{engine.ErrExists, engine.ErrState} {
		if errors.Is(err, done) {
			return nil
		}
	}
	return err
}

// run plays everything: three decisions, an evaluation, a suggestion, an action and the archive.
func (p *play) run(ctx context.Context) error {
	e, owner := p.e, council.Author{Kind: "owner"}
	submit := func(id, supersedes string) func() error {
		return func() error {
			_, err := e.SubmitWith(ctx, council.Task{ID: id, Title: "About " + id, Description: "Something.", Supersedes: supersedes}, []engine.Upload{{Name: "a.txt", Data: []byte("text of " + id)}})
			return err
		}
	}
	steps := []func() error{
		submit("task_1", ""), submit("task_2", ""),
		func() error { return e.RecordOutcome(ctx, "task_1", council.OutcomeWorked, "well", owner) },
		submit("task_3", "task_1"),
		func() error {
			if p.rounds() > 1 {
				return nil
			}
			return e.RequestRound(ctx, "task_2", owner, "look again")
		},
		func() error {
			if all, err := e.Evaluations(ctx, 1); err != nil || len(all) > 0 {
				return err
			}
			_, err := e.StartEvaluation(ctx, owner)
			return err
		},
		func() error {
			_, err := e.Suggest(ctx, council.Suggestion{ID: "sug_1", Worker: "bot", Title: "Paint the door"})
			return err
		},
		func() error {
			_, err := e.ReviewSuggestion(ctx, "bot", "sug_1", true, "good", owner)
			return err
		},
		func() error {
			_, err := e.RequestAction(ctx, council.ActionRequest{ID: "action_1", Service: "reload:ant", TaskID: "task_3", RequestedBy: "cat"})
			return err
		},
		func() error { p.clock.Add(8 * 24 * time.Hour); return nil },
	}
	for i, step := range steps {
		if err := known(step()); err != nil {
			return fmt.Errorf("step %d: %w", i, err)
		}
		if err := p.quiet(ctx); err != nil {
			return fmt.Errorf("after step %d: %w", i, err)
		}
	}
	return nil
}

// rounds returns the number of rounds of task_2.
func (p *play) rounds() int {
	d, err := p.e.Get(context.Background(), "task_2")
	if err != nil {
		return 0
	}
	return len(d.Rounds)
}

// open opens the engine of the play.
func (p *play) open(inline bool, crash func(string)) error {
	o := engine.Options{Folder: p.dir + "/council", Settings: playSettings(p.dir), Workspace: p.dir + "/agent", Ask: playScript(), Now: p.clock.Now, Crash: crash}
	open := engine.Open
	if inline {
		open = engine.OpenInline
	}
	e, err := open(o)
	if err != nil {
		return err
	}
	p.e, p.quiet = e, e.Settle
	if inline {
		p.quiet = e.Quiet
	}
	return nil
}

var (
	recordFile = regexp.MustCompile(`/(decision|result|history|_seal|retune_[a-z]+|params|claim|task|superseded)\.json$|/decisions/[^/]*$|/suggestions/bot/sug_1\.json$|/attachments/`)
	moment     = regexp.MustCompile(`"\d{4}-\d\d-\d\dT[0-9:.]+Z"|20\d\d-\d\d-\d\d|"attempt": \d|"sha256": "[0-9a-f]+"|sha256 [0-9a-f]+`)
)

// records returns all records of a council without times, by path.
func records(dir string) (string, error) {
	var b bytes.Buffer
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		rel := strings.TrimPrefix(path, dir)
		if err != nil || d.IsDir() || !recordFile.MatchString(rel) || strings.HasSuffix(path, ".tmp") {
			return err
		}
		data, err := os.ReadFile(path)
		sum := sha256.Sum256(moment.ReplaceAll(data, nil))
		fmt.Fprintln(&b, moment.ReplaceAllString(rel, ""), hex.EncodeToString(sum[:8]))
		return err
	})
	return b.String(), err
}

// lasting returns what is not allowed to happen, whatever was killed when.
func lasting(dir string) error {
	names, err := filepath.Glob(dir + "/council/rebuild_requests/action_1.json")
	if err != nil || len(names) != 1 {
		return fmt.Errorf("no action: %v", err)
	}
	data, err := os.ReadFile(names[0])
	if err != nil || !bytes.Contains(data, []byte(`"completed"`)) && !bytes.Contains(data, []byte("interrupted")) {
		return fmt.Errorf("%v: %s", err, data)
	}
	return nil
}

// cut is what a kill at a point leaves: a copy of the folder, and the time.
type cut struct {
	point string
	nth   int // time that the point is passed, from 1
	dir   string
	now   time.Time
}

// nameInPoint matches what a point has of a member, a task or a number.
var nameInPoint = regexp.MustCompile(`\d+|ant|bee|cat`)

// wanted plays undisturbed, and returns the records, and what kills would have left at each point, the nth times that it is passed.
func wanted(t *testing.T, nth ...int) (string, []cut) {
	t.Helper()
	p, copies := &play{dir: counciltest.Dir(t), clock: counciltest.NewClock()}, counciltest.Dir(t)
	var cuts []cut
	passed := map[string]int{}
	if err := p.open(true, func(point string) {
		point = nameInPoint.ReplaceAllString(point, "")
		if passed[point]++; !slices.Contains(nth, passed[point]) {
			return
		}
		c := cut{point: point, nth: passed[point], dir: fmt.Sprintf("%s/%d", copies, len(cuts)), now: p.clock.Now()}
		if err := os.CopyFS(c.dir, os.DirFS(p.dir)); err != nil {
			t.Error(err)
		}
		cuts = append(cuts, c)
	}); err != nil {
		t.Fatal(err)
	}
	defer p.e.Close()
	if err := p.run(t.Context()); err != nil {
		t.Fatal(err)
	}
	want, err := records(p.dir)
	if err != nil || strings.Count(want, "\n") < 25 {
		t.Fatalf("%v: %s", err, want)
	}
	return want, cuts
}

// Check 6: a kill at any named point changes no record. With KIOKU_SOAK=1 also when it is passed for the second and the fifth time.
func TestKillAtAPointChangesNoRecord(t *testing.T) {
	t.Parallel()
	want, cuts := wanted(t, []int{1, 2, 5}[:testkit.Rounds(3, 1)]...)
	if len(cuts) < 25 {
		t.Errorf("%d points: %v", len(cuts), cuts)
	}
	for _, c := range cuts {
		t.Run(fmt.Sprint(c.point, c.nth), func(t *testing.T) {
			t.Parallel()
			p := &play{dir: c.dir, clock: counciltest.NewClock()}
			p.clock.Add(c.now.Sub(p.clock.Now()))
			if err := p.open(true, nil); err != nil {
				t.Fatal(err)
			}
			err := errors.Join(p.run(t.Context()), p.e.Close())
			got, failed := records(p.dir)
			if err = errors.Join(err, failed, lasting(p.dir)); err != nil || got != want {
				t.Errorf("%v\n%s", err, difference(want, got))
			}
		})
	}
}

// difference returns the lines that only one of two texts has.
func difference(want, got string) string {
	var b strings.Builder
	for line := range strings.Lines(want) {
		if !strings.Contains(got, line) {
			b.WriteString("- " + line)
		}
	}
	for line := range strings.Lines(got) {
		if !strings.Contains(want, line) {
			b.WriteString("+ " + line)
		}
	}
	return b.String()
}

// playEnv names the folder in which a copy of the test binary plays.
const playEnv = "KIOKU_COUNCIL_PLAY"

func TestMain(m *testing.M) {
	if dir := os.Getenv(playEnv); dir != "" {
		p := &play{dir: dir, clock: counciltest.NewClock()}
		err := p.open(false, nil)
		if err == nil {
			err = p.run(context.Background())
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

// child starts a process that plays in a folder.
func child(t *testing.T, dir string) (*exec.Cmd, *bytes.Buffer) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self)
	out := &bytes.Buffer{}
	cmd.Env, cmd.Stderr, cmd.Stdout = append(os.Environ(), playEnv+"="+dir), out, out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd, out
}

// Check 6: kill -9 at random moments, 10 times, or 200 in make soak. A council is killed once: after flow.MaxCalls calls that were cut off, a
// member abstains, as it has to.
func TestKillAtRandomChangesNoRecord(t *testing.T) {
	t.Parallel()
	want, _ := wanted(t)
	kills := 10
	if testkit.Soak() {
		kills = 200
	}
	random := rand.New(rand.NewPCG(testkit.Seed(), 0))
	for done := 0; done < kills; {
		dir := counciltest.Dir(t)
		cmd, _ := child(t, dir)
		time.Sleep(time.Duration(random.IntN(120)) * time.Millisecond) // until the kill: a race with a process is what is tested
		if err := cmd.Process.Signal(syscall.SIGKILL); err != nil && !errors.Is(err, os.ErrProcessDone) {
			t.Fatal(err)
		}
		if cmd.Wait() != nil {
			done++
		}
		cmd, out := child(t, dir)
		if err := cmd.Wait(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		got, err := records(dir)
		if err = errors.Join(err, lasting(dir)); err != nil || got != want {
			t.Fatalf("%v\n%s", err, difference(want, got))
		}
	}
}
