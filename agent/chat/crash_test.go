package chat_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
	"golang.org/x/sync/errgroup"

	"kioku/agent/chat"
	"kioku/agent/session"
	"kioku/internal/testkit"
	"kioku/llm"
	"kioku/llm/echo"
)

// fewPoints is about how many points of a conversation are tried outside of a soak test.
const fewPoints = 12

// crashEnv makes the test binary a program that talks in a folder and kills itself: "DIR N".
const crashEnv = "KIOKU_TEST_CHAT_CRASH"

func TestMain(m *testing.M) {
	if dir, point, ok := strings.Cut(os.Getenv(crashEnv), " "); ok {
		if err := talkUntilKilled(dir, point); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

// crashTurns are what the user says; those with facts are in each third turn.
func crashTurns() []string {
	var turns []string
	for i := range 9 {
		turn := fmt.Sprintf("Turn %d: tell me about the sea, %s", i, strings.Repeat("please, ", 310)+"do")
		if i%3 == 0 {
			turn = fmt.Sprintf("My locker number %d is %d%d%d.", i, i, i+1, i+2)
		}
		turns = append(turns, turn)
	}
	return turns
}

// watched is an echo.Model that tells when it is asked and when it answers.
type watched struct {
	echo.Model
	at func(string)
}

func (w *watched) Generate(ctx context.Context, req llm.Request, stream func(llm.Event)) (llm.Response, error) {
	w.at("asked")
	defer w.at("answered")
	return w.Model.Generate(ctx, req, nil)
}

// talkUntilKilled continues the turns that have no answer yet and kills itself at a point: whenever a clock is read, which
// is before each write of the session and the ledger, at both ends of a request and a note, and at each event. Without a
// point, 0, it tells at the end how many there were.
func talkUntilKilled(dir, point string) error {
	last, err := strconv.Atoi(point)
	if err != nil {
		return err
	}
	seen := 0
	at := func(string) {
		if seen++; seen == last {
			syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		}
	}
	model := &watched{Model: echo.Model{Tokens: 8000}, at: at}
	w := worldIn(dir, model)
	w.notes.at = at
	w.now = func() time.Time {
		at("clock")
		return noon
	}
	c, err := w.open("s")
	if err != nil {
		return err
	}
	kept, err := w.entries("s")
	if err != nil {
		return err
	}
	for _, message := range crashTurns()[answered(kept):] {
		if _, err := c.Turn(context.Background(), message, func(chat.Event) { at("event") }); err != nil {
			return err
		}
	}
	fmt.Println(seen)
	return nil
}

// answered counts the turns that have their answer.
func answered(entries []session.Entry) int {
	turns, n, asked := append(crashTurns(), ""), 0, false
	for _, e := range entries {
		switch m := e.Message; {
		case m == nil:
		case m.Role == llm.RoleUser:
			asked = m.Text == turns[n]
		case asked && m.Role == llm.RoleAssistant && len(m.ToolCalls) == 0:
			n, asked = n+1, false
		}
	}
	return n
}

// talk runs the program in a folder and returns what it has printed.
func talk(t *testing.T, dir string, point int) (string, error) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	cmd := exec.CommandContext(t.Context(), self)
	// The race detector would wait for a second at the end.
	cmd.Env = append(os.Environ(), "GORACE=atexit_sleep_ms=0", fmt.Sprintf("%s=%s %d", crashEnv, dir, point))
	out, err := cmd.CombinedOutput()
	return strings.TrimSpace(string(out)), err
}

// Hazard F06: the program is killed at every point of a conversation with flushes and compactions, and started again. No
// turn is lost, every note is in memory once, and the compactions come to their end.
func TestCrashLosesNoTurnAndStoresNothingTwice(t *testing.T) {
	t.Parallel()
	whole := t.TempDir()
	out, err := talk(t, whole, 0)
	points, bad := strconv.Atoi(out)
	if err != nil || bad != nil {
		t.Fatalf("%v: %s", err, out)
	}
	want := checkCrashed(t, whole, 0)
	if len(want) < 3 || points < 50 {
		t.Fatalf("%d points, notes %q: the test does not test", points, want)
	}
	step := max(points/fewPoints, 1)
	if testkit.Soak() {
		step = 1
	}
	var group errgroup.Group
	group.SetLimit(4)
	for point := 1; point <= points; point += step {
		dir := t.TempDir()
		group.Go(func() error {
			if out, err := talk(t, dir, point); err == nil || !strings.Contains(err.Error(), "killed") {
				return fmt.Errorf("point %d: not killed: %w, %s", point, err, out)
			}
			if out, err := talk(t, dir, 0); err != nil {
				return fmt.Errorf("point %d: after the restart: %w: %s", point, err, out)
			}
			if diff := cmp.Diff(want, checkCrashed(t, dir, point)); diff != "" {
				t.Errorf("point %d: notes (-want +got):\n%s", point, diff)
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		t.Error(err)
	}
}

// checkCrashed checks what a conversation has left and returns its notes.
func checkCrashed(t *testing.T, dir string, point int) []string {
	t.Helper()
	w := worldIn(dir, nil)
	entries, err := w.entries("s")
	if err != nil {
		t.Error(err)
		return nil
	}
	times, compactions, flushes := map[string]int{}, 0, 0
	for _, e := range entries {
		switch {
		case e.Compaction != nil:
			compactions, flushes = compactions+1, 0
		case e.Flush != nil:
			if flushes++; e.Flush.Outcome != session.FlushDone || flushes > 1 {
				t.Errorf("point %d: flush %d since the last compaction: %+v", point, flushes, *e.Flush)
			}
		case e.Message != nil && e.Message.Role == llm.RoleUser:
			times[e.Message.Text]++
		}
	}
	again := 0
	for _, turn := range crashTurns() {
		n := times[turn]
		if n == 0 {
			t.Errorf("point %d: lost: %.40q", point, turn)
		}
		again += n - 1
	}
	if n := answered(entries); n != len(crashTurns()) || again > 1 || compactions < 2 {
		t.Errorf("point %d: %d turns answered, %d sent again, %d compactions", point, n, again, compactions)
	}
	return slices.Sorted(strings.SplitSeq(w.notes.text(), "\n"))
}
