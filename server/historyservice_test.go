package server_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/timestamppb"

	"kioku"
	"kioku/memory"
	kiokuv1 "kioku/proto/kioku/v1"
	"kioku/server"
)

// historyOf returns a client of the history of a folder that git has a version of, of the first of October 2026.
func historyOf(t *testing.T) kiokuv1.HistoryServiceClient {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("the program git is not installed")
	}
	ws := t.TempDir()
	if err := os.WriteFile(filepath.Join(ws, "MEMORY.md"), []byte("- Ines lives in Porto.\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"init", "-q"}, {"add", "-A"}, {"-c", "user.name=Ana", "-c", "user.email=ana@example.org", "commit", "-q", "-m", "first"}} {
		cmd := exec.CommandContext(t.Context(), "git", args...)
		cmd.Dir = ws
		cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=/nonexistent", "GIT_AUTHOR_DATE=2026-10-01T12:00:00Z", "GIT_COMMITTER_DATE=2026-10-01T12:00:00Z"}
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git: %v\n%s", err, out)
		}
	}
	return historyClient(t, ws)
}

// historyClient returns a client of the history of a folder.
func historyClient(t *testing.T, ws string) kiokuv1.HistoryServiceClient {
	t.Helper()
	m, err := kioku.Open(t.Context(), kioku.Options{Workspace: ws, StateDir: t.TempDir(), Location: time.UTC})
	if err != nil {
		t.Fatal(err)
	}
	s, err := server.New(agents(m))
	if err != nil {
		t.Fatal(err)
	}
	c, stop, err := s.LoopbackHistory()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := stop(); err != nil {
			t.Error(err)
		}
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

func TestHistoryServiceAnswersFromGit(t *testing.T) {
	t.Parallel()
	c := historyOf(t)
	then := &kiokuv1.Moment{Time: timestamppb.New(time.Date(2026, 10, 2, 0, 0, 0, 0, time.UTC))}
	log, err := c.Log(t.Context(), &kiokuv1.LogRequest{})
	if err != nil || len(log.GetChanges()) != 1 || log.Changes[0].GetChange() != memory.FileAdded || log.Changes[0].GetVersion().GetSubject() != "first" {
		t.Errorf("Log: %v, %v", log, err)
	}
	file, err := c.ShowFile(t.Context(), &kiokuv1.ShowFileRequest{Path: "MEMORY.md", At: then})
	if err != nil || file.GetText() != "- Ines lives in Porto.\n" || file.GetVersion().GetHistory() != memory.HistoryGit {
		t.Errorf("ShowFile: %v, %v", file, err)
	}
	diff, err := c.DiffFiles(t.Context(), &kiokuv1.DiffFilesRequest{From: then})
	if err != nil || len(diff.GetFiles()) != 0 || diff.GetTo().GetId() != "" {
		t.Errorf("DiffFiles: %v, %v", diff, err)
	}
	found, err := c.SearchPast(t.Context(), &kiokuv1.SearchPastRequest{Search: &kiokuv1.MemorySearchRequest{Query: "where does Ines live"}, At: then})
	if err != nil || len(found.GetAnswer().GetResults()) != 1 || found.GetVersion().GetId() != log.GetChanges()[0].GetVersion().GetId() {
		t.Errorf("SearchPast: %v, %v", found, err)
	}
}

func TestHistoryServiceRefuses(t *testing.T) {
	t.Parallel()
	c, without := historyOf(t), historyClient(t, t.TempDir())
	early := &kiokuv1.Moment{Time: timestamppb.New(time.Date(2026, 9, 1, 0, 0, 0, 0, time.UTC))}
	both := &kiokuv1.Moment{Time: early.Time, Revision: "HEAD"}
	show := func(c kiokuv1.HistoryServiceClient, path string, at *kiokuv1.Moment) error {
		_, err := c.ShowFile(t.Context(), &kiokuv1.ShowFileRequest{Path: path, At: at})
		return err
	}
	showUpTo := func(ceiling string) error {
		_, err := c.ShowFile(t.Context(), &kiokuv1.ShowFileRequest{Path: "MEMORY.md", MaxSensitivity: ceiling})
		return err
	}
	search := func(req *kiokuv1.SearchPastRequest) error {
		_, err := c.SearchPast(t.Context(), req)
		return err
	}
	undo := func(req *kiokuv1.UndoWritesRequest) error {
		_, err := c.UndoWrites(t.Context(), req)
		return err
	}
	for name, got := range map[string]struct {
		err  error
		want codes.Code
	}{
		"no history":       {show(without, "MEMORY.md", nil), codes.FailedPrecondition},
		"too early":        {show(c, "MEMORY.md", early), codes.NotFound},
		"no note":          {show(c, ".git/config", nil), codes.NotFound},
		"nobody knows":     {showUpTo("normal"), codes.InvalidArgument},
		"no ceiling":       {showUpTo("all"), codes.InvalidArgument},
		"two versions":     {show(c, "MEMORY.md", both), codes.InvalidArgument},
		"option":           {show(c, "MEMORY.md", &kiokuv1.Moment{Revision: "--all"}), codes.InvalidArgument},
		"outside":          {show(c, "../MEMORY.md", nil), codes.InvalidArgument},
		"no query":         {search(&kiokuv1.SearchPastRequest{}), codes.InvalidArgument},
		"blank query":      {search(&kiokuv1.SearchPastRequest{Search: &kiokuv1.MemorySearchRequest{}}), codes.InvalidArgument},
		"undo of all":      {undo(&kiokuv1.UndoWritesRequest{}), codes.InvalidArgument},
		"undo of a writer": {undo(&kiokuv1.UndoWritesRequest{Session: "s", Sources: []string{"me"}}), codes.InvalidArgument},
	} {
		if status.Code(got.err) != got.want {
			t.Errorf("%s: %v; want %s", name, got.err, got.want)
		}
	}
}
