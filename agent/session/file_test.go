package session_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kioku/agent/session"
	"kioku/llm"
)

// transcript writes a transcript and returns its folder.
func transcript(t *testing.T, text string) string {
	t.Helper()
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "a.jsonl"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return folder
}

// line is an entry with the words of a user.
func line(id, text string) string {
	return fmt.Sprintf(`{"id":%q,"time":"2026-05-04T12:00:00Z","kind":"message","message":{"role":"user","text":%q}}`, id, text)
}

// texts are what the messages of a view say.
func texts(v session.View) (out []string) {
	for _, m := range v.Messages {
		out = append(out, m.Text)
	}
	return out
}

func TestOpenMendsATranscriptCutAnywhere(t *testing.T) {
	t.Parallel()
	whole := line("000001", "one") + "\n" + line("000002", "二つ目") + "\n"
	first := strings.Index(whole, "\n") + 1
	for cut := range len(whole) {
		if cut%16 != 0 && cut%first > 2 && cut%first < first-2 && cut < len(whole)-3 {
			continue // near the ends of lines every byte counts
		}
		folder := transcript(t, whole[:cut])
		s, report, err := session.Open(folder, "a", session.Options{})
		if err != nil {
			t.Fatalf("cut at %d: %v", cut, err)
		}
		// An entry without its line end is whole.
		lines, torn := strings.Count(whole[:cut], "\n"), whole[:cut]
		if cut >= first {
			torn = whole[first:cut]
		}
		if cut == first-1 || cut == len(whole)-1 {
			lines, torn = lines+1, ""
		}
		if got := len(s.View().Messages); got != lines || report.Torn != len(torn) {
			t.Fatalf("cut at %d: %d messages and %d torn bytes, want %d and %d", cut, got, report.Torn, lines, len(torn))
		}
		if torn != "" {
			aside, err := os.ReadFile(filepath.Join(folder, report.TornFile))
			if err != nil || string(aside) != torn+"\n" {
				t.Fatalf("cut at %d: set aside %q, %v", cut, aside, err)
			}
		}
		say(t, s, user("three"))
		s.Close()
		if got := texts(open(t, folder, "a").View()); len(got) != lines+1 || got[lines] != "three" {
			t.Fatalf("cut at %d: %q after one more message", cut, got)
		}
	}
}

func TestOpenReportsBadLines(t *testing.T) {
	t.Parallel()
	src := strings.Join([]string{
		line("000001", "one"), "not JSON", `{"id":"000003","kind":"later"}`, "", line("000001", "a second 000001"), `{"kind":"meta"}`,
		`{"id":"x","kind":"message","message":{"role":"tool","toolCallId":"9","text":"result of nothing"}}`,
		`{"id":"y","kind":"compaction","compaction":{"summary":"s","firstKept":"nowhere"}}`, "\x00\x00", line("000010", "ten"), "",
	}, "\n")
	folder := transcript(t, src)
	s, report, err := session.Open(folder, "a", session.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var bad []int
	for _, b := range report.Bad {
		bad = append(bad, b.Line)
	}
	if diff := cmp.Diff([]int{2, 3, 5, 6, 7, 8, 9}, bad); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"one", "ten"}, texts(s.View())); diff != "" {
		t.Error(diff)
	}
	if id := say(t, s, user("more")); id != "000011" {
		t.Errorf("the eleventh line has the id %s", id)
	}
	if now, _ := os.ReadFile(filepath.Join(folder, "a.jsonl")); !bytes.HasPrefix(now, []byte(src)) {
		t.Error("the file was changed")
	}
}

func TestOpenLocksTheTranscript(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	s := open(t, folder, "a")
	if _, _, err := session.Open(folder, "a", session.Options{}); !errors.Is(err, session.ErrInUse) {
		t.Errorf("opened twice: %v", err)
	}
	if out, err := other(t, folder).CombinedOutput(); err == nil || !strings.Contains(string(out), "in use") {
		t.Errorf("another process: %v, %s", err, out)
	}
	open(t, folder, "b")
	s.Close()
	open(t, folder, "a")
}

// other is this test run as another process, which appends to session a of a folder until it is killed.
func other(t *testing.T, folder string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestHelperProcess$")
	cmd.Env = append(os.Environ(), "SESSION_FOLDER="+folder)
	return cmd
}

func TestHelperProcess(t *testing.T) {
	t.Parallel()
	folder := os.Getenv("SESSION_FOLDER")
	if folder == "" {
		t.Skip("runs in another process only")
	}
	s, _, err := session.Open(folder, "a", session.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if limit, err := strconv.ParseUint(os.Getenv("SESSION_LIMIT"), 10, 64); err == nil {
		signal.Ignore(syscall.SIGXFSZ)
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: limit, Max: limit}); err != nil {
			t.Fatal(err)
		}
	}
	for i := 0; ; i++ {
		e, err := s.Append(session.Entry{Kind: session.KindMessage, Message: &llm.Message{Role: llm.RoleUser, Text: strings.Repeat("x", 700+i%3000)}})
		if err != nil {
			t.Fatal(err)
		}
		fmt.Println(e.ID)
	}
}

func TestAppendSurvivesAKill(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	for round := range 5 {
		cmd := other(t, folder)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		var acknowledged []string
		for in := bufio.NewScanner(out); in.Scan(); {
			if acknowledged = append(acknowledged, in.Text()); len(acknowledged) == 5+round {
				cmd.Process.Kill()
			}
		}
		cmd.Wait()
		s, report, err := session.Open(folder, "a", session.Options{})
		if err != nil || len(report.Bad) > 0 {
			t.Fatalf("%v, %v", report, err)
		}
		ids := s.View().IDs
		s.Close()
		n := len(acknowledged)
		if n < 5 || ids[len(ids)-1] < acknowledged[n-1] {
			t.Fatalf("acknowledged were %v; the last one there is %s", acknowledged, ids[len(ids)-1])
		}
	}
}

func TestAppendTakesBackWhatDoesNotFitOnTheDisk(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	cmd := other(t, folder)
	cmd.Env = append(cmd.Env, "SESSION_LIMIT=20000")
	out, err := cmd.CombinedOutput()
	if err == nil || !strings.Contains(string(out), "file too large") {
		t.Fatalf("%v, %s", err, out)
	}
	s := open(t, folder, "a")
	if acknowledged := strings.Count(string(out), "0000"); len(s.View().IDs) != acknowledged || acknowledged == 0 {
		t.Errorf("%d messages of %d that were acknowledged", len(s.View().IDs), acknowledged)
	}
	if s.Size() != s.View().Bytes || s.Size() > 20_000 {
		t.Errorf("%d bytes, of which %d are entries", s.Size(), s.View().Bytes)
	}
}

func TestOpenMakesPrivateFiles(t *testing.T) {
	t.Parallel()
	folder, err := session.Folder(t.TempDir(), "main")
	if err != nil {
		t.Fatal(err)
	}
	open(t, folder, "a")
	for path, want := range map[string]os.FileMode{folder: 0o700, filepath.Dir(folder): 0o700, filepath.Join(folder, "a.jsonl"): 0o600} {
		info, err := os.Stat(path)
		if err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v", path, info.Mode(), err)
		}
	}
}

func TestOpenRefusesBadIDs(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	for _, id := range []string{"", ".", "..", "../a", "a/b", `a\b`, "/etc/passwd", ".hidden", "-a", "a\x00", "a b", "日本", "a\n", strings.Repeat("a", 129)} {
		if _, _, err := session.Open(folder, id, session.Options{}); !errors.Is(err, session.ErrID) {
			t.Errorf("session %q: %v", id, err)
		}
		if _, err := session.Folder(folder, id); !errors.Is(err, session.ErrID) {
			t.Errorf("agent %q: %v", id, err)
		}
	}
	for _, id := range []string{"a", "A.b_c-1", session.NewID(noon), strings.Repeat("a", 128)} {
		if err := session.CheckID(id); err != nil {
			t.Error(err)
		}
	}
	one, two, after := session.NewID(noon), session.NewID(noon), session.NewID(noon.Add(time.Second))
	if one == two || one > after || two > after {
		t.Errorf("new ids are not unique or do not sort by time: %s, %s, %s", one, two, after)
	}
}

func TestOpenRefusesLinksAndOtherFiles(t *testing.T) {
	t.Parallel()
	folder, outside := t.TempDir(), filepath.Join(t.TempDir(), "target")
	if err := errors.Join(os.WriteFile(outside, nil, 0o600), os.Symlink(outside, filepath.Join(folder, "link.jsonl")),
		os.Mkdir(filepath.Join(folder, "dir.jsonl"), 0o700)); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"link", "dir"} {
		if _, _, err := session.Open(folder, id, session.Options{}); err == nil || !strings.Contains(err.Error(), "not a regular file") {
			t.Errorf("%s: %v", id, err)
		}
	}
	if list, err := session.List(folder); err != nil || len(list) > 0 {
		t.Errorf("listed %v, %v", list, err)
	}
}

func TestListHasTheLatestFirst(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	for i, name := range []string{"old.jsonl", "new.jsonl", "old.jsonl.torn", "notes.txt", ".jsonl"} {
		path := filepath.Join(folder, name)
		when := noon.Add(time.Duration(i) * time.Hour)
		if err := errors.Join(os.WriteFile(path, make([]byte, 10+i), 0o600), os.Chtimes(path, when, when)); err != nil {
			t.Fatal(err)
		}
	}
	got, err := session.List(folder)
	if err != nil {
		t.Fatal(err)
	}
	want := []session.Info{{ID: "new", Bytes: 11, Modified: noon.Add(time.Hour)}, {ID: "old", Bytes: 10, Modified: noon}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if list, err := session.List(filepath.Join(folder, "none")); err != nil || list != nil {
		t.Errorf("a folder that is not there: %v, %v", list, err)
	}
}

func FuzzReadTakesAnyBytes(f *testing.F) {
	f.Add([]byte(line("000001", "one") + "\n" + line("000002", "two")))
	f.Add([]byte("\n\x00\n{}\n[1]\nnull\n\"x\""))
	f.Fuzz(func(t *testing.T, src []byte) {
		entries, last := 0, 0
		report, err := session.Read(bytes.NewReader(src), func(l session.Line) error {
			if l.ID == "" || l.Number <= last {
				t.Fatalf("line %d after %d: %+v", l.Number, last, l.Entry)
			}
			entries, last = entries+1, l.Number
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		whole := bytes.Count(src, []byte("\n"))
		if entries+len(report.Bad) > whole+1 || report.Torn > len(src)-bytes.LastIndexByte(src, '\n')-1 {
			t.Fatalf("%d entries and %+v in %d lines", entries, report, whole)
		}
	})
}

func FuzzOpenTakesAnyFile(f *testing.F) {
	f.Add([]byte(line("000001", "one") + "\n" + line("000002", "two")))
	f.Add([]byte("{\"id\":\"1\",\"kind\":\"prune\",\"prune\":[{\"message\":\"0\"}]}\n\n\x00"))
	f.Add([]byte(`{"id":"1","kind":"message","message":{"role":"assistant","toolCalls":[{"id":"a"},{"id":"a"}]}}` + "\n{"))
	f.Add([]byte(`{"id":"1","kind":"message","tokens":-5,"message":{"role":"user"}}` + "\n" + `{"id":"2","kind":"compaction","compaction":{"summary":"s"}}`))
	f.Fuzz(func(t *testing.T, src []byte) {
		folder := transcript(t, string(src))
		s, _, err := session.Open(folder, "a", session.Options{})
		if err != nil {
			t.Fatal(err)
		}
		say(t, s, user("last"))
		want := s.View()
		s.Close()
		s, report, err := session.Open(folder, "a", session.Options{})
		if err != nil || report.Torn > 0 {
			t.Fatalf("%+v, %v", report, err)
		}
		defer s.Close()
		if diff := cmp.Diff(want, s.View()); diff != "" {
			t.Fatal(diff)
		}
		if n := len(want.Messages); want.Messages[n-1].Text != "last" {
			t.Fatalf("the last message is %+v", want.Messages[n-1])
		}
	})
}
