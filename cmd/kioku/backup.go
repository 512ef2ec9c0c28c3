package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"kioku/agent/bootstrap"
	"kioku/cmd/kioku/config"
	"kioku/cmd/kioku/internal/backup"
	"kioku/cmd/kioku/internal/connect"
	"kioku/cmd/kioku/internal/render"
	"kioku/memory"
	"kioku/note/forgotten"
)

// backupReport is the output of kioku backup --json and kioku backup verify --json.
type backupReport struct {
	// File is the path of the backup.
	File string `json:"file"`
	// Agent is the id of the agent, and Workspace the folder of its notes.
	Agent     string `json:"agent"`
	Workspace string `json:"workspace"`
	// Time is when it was written.
	Time string `json:"time"`
	// Notes and AgentFiles count the notes, and the files of sessions and flushes. LeftOut are the indexed files that are not in the backup.
	Notes      int      `json:"notes"`
	AgentFiles int      `json:"agent_files"`
	LeftOut    []string `json:"left_out"`
	// Bytes is the sum of the sizes of what the backup contains, and FileBytes the size of the backup.
	Bytes     int64 `json:"bytes"`
	FileBytes int64 `json:"file_bytes"`
}

func (a *app) backupCmd() *cobra.Command {
	var noNotes bool
	cmd := &cobra.Command{
		Use: "backup FILE|FOLDER", Short: "Write the memory of the agent to an archive",
		Long: "Write the notes that are indexed, the agent's sessions, the embeddings and what is derived to a tar.gz, and verify it; the index is\n" +
			"made from the notes again. A daemon\n" +
			"may run meanwhile. A name without .tar.gz or .tgz is a folder, which is made if it is missing; the file in it is named for\n" +
			"the agent and the time. No file is replaced. kioku restore reads it.",
		Example: "  kioku backup ~/backups\n  kioku backup before-the-move.tar.gz\n  kioku backup verify before-the-move.tar.gz",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.withMemory(cmd.Context(), connect.ToSearch, func(c *connect.Client) error { return a.backUp(cmd.Context(), c, args[0], noNotes) })
		},
	}
	cmd.Flags().BoolVar(&noNotes, "no-notes", false, "leave the notes out")
	cmd.AddCommand(a.backupVerifyCmd())
	return cmd
}

func (a *app) backupVerifyCmd() *cobra.Command {
	return &cobra.Command{
		Use: "verify FILE", Short: "Check that a backup is whole", Args: cobra.ExactArgs(1),
		Long: "Read all of a backup, whose checksum tells damage, and check the embeddings and what is derived. Nothing is restored.",
		RunE: func(cmd *cobra.Command, args []string) error {
			m, err := metered(a, func(p progress) (*backup.Manifest, error) { return backup.Verify(cmd.Context(), args[0], p) })
			if err != nil {
				return err
			}
			return a.tellBackup("whole", args[0], m)
		},
	}
}

// progress is told how far a backup or restore is, in bytes.
type progress = func(phase string, done, total int64)

// metered runs f and shows its progress.
func metered[T any](a *app, f func(progress) (T, error)) (T, error) {
	m := a.Meter()
	defer m.Run()()
	return f(m.Bytes)
}

// backUp writes a backup of a memory to a file, or into a folder.
func (a *app) backUp(ctx context.Context, c *connect.Client, path string, noNotes bool) error {
	if err := c.Freshen(ctx); err != nil {
		return err
	}
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) && !strings.HasSuffix(path, ".tar.gz") && !strings.HasSuffix(path, ".tgz") {
		if err := os.MkdirAll(path, 0o700); err != nil {
			return fmt.Errorf("back up: %w", err)
		}
		info, err = os.Stat(path)
	}
	if err == nil && info.IsDir() {
		path = filepath.Join(path, fmt.Sprintf("kioku-%s-%s.tar.gz", c.Agent, time.Now().UTC().Format("20060102T150405Z")))
	}
	s := backup.Source{Kioku: buildVersion(), Agent: c.Agent, Workspace: c.Workspace, CopyEmbeddings: c.Memory.CopyEmbeddings, CopyDerived: c.Memory.Derived().Copy,
		AgentDir: filepath.Join(c.State, "agents", c.Agent)}
	if !noNotes {
		if s.Notes, err = indexedNotes(ctx, c); err != nil {
			return err
		}
	}
	m, err := metered(a, func(p progress) (*backup.Manifest, error) { s.Progress = p; return backup.Write(ctx, path, s) })
	if err != nil {
		return fmt.Errorf("back up: %w", err)
	}
	if st, err := c.Memory.Status(ctx); err == nil && countSkipped(st.Skipped) > 0 {
		a.Notice("not in the backup: %s that could not be indexed; kioku status says why", render.Count(countSkipped(st.Skipped), "file"))
	}
	return a.tellBackup("wrote", path, m)
}

// countSkipped counts the files that are not indexed at all.
func countSkipped(files []memory.SkippedFile) int {
	n := 0
	for _, f := range files {
		if !f.Indexed {
			n++
		}
	}
	return n
}

// indexedNotes returns the paths of the notes in a backup: the files that are indexed, the settings of the workspace, and the
// files of the prompt.
func indexedNotes(ctx context.Context, c *connect.Client) ([]string, error) {
	var paths []string
	known := map[string]bool{}
	q := memory.FileQuery{Filter: memory.Filter{Sources: []string{memory.SourceMemory, memory.SourceExtra}}}
	for more := true; more; more = q.After != "" {
		list, err := c.Memory.Files(ctx, q)
		if err != nil {
			return nil, fmt.Errorf("list the notes: %w", err)
		}
		for _, f := range list.Files {
			paths, known[f.Path] = append(paths, f.Path), true
		}
		q.After = list.Next
	}
	for _, name := range append(bootstrap.Names(), config.FolderFile, forgotten.File) {
		if _, err := os.Lstat(filepath.Join(c.Workspace, name)); err == nil && !known[name] {
			paths = append(paths, name)
		}
	}
	return paths, nil
}

// tellBackup reports a backup that is undamaged. It returns an error if files of the workspace that are indexed are not in it.
func (a *app) tellBackup(what, path string, m *backup.Manifest) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	r := backupReport{File: path, Agent: m.Agent, Workspace: m.Workspace, Time: m.Time.Format(time.RFC3339), Notes: m.Notes(),
		AgentFiles: m.AgentFiles(), LeftOut: append([]string{}, m.LeftOut...), Bytes: m.Bytes(), FileBytes: info.Size()}
	var missing error
	for _, left := range r.LeftOut {
		why := "is outside of the workspace"
		if !filepath.IsAbs(left) {
			why = "is hidden, is gone or cannot be read"
			missing = errors.New("the backup lacks files of the workspace that are indexed")
		}
		a.Notice("not in the backup: %s, which %s", left, why)
	}
	if missing != nil {
		what = "incomplete"
	}
	err = a.Write(r, func(p *render.Page) {
		p.Linef("%s: %s, %s: agent %s of %s, its embeddings, %s and %s of sessions", what, path, render.Size(r.FileBytes), r.Agent, r.Workspace,
			render.Count(r.Notes, "note"), render.Count(r.AgentFiles, "file"))
	})
	return errors.Join(err, missing)
}

// withMemory calls f with a memory in this process, which reads the index as it is while somebody else has it.
func (a *app) withMemory(ctx context.Context, n connect.Need, f func(*connect.Client) error) error {
	k, err := a.connector()
	if err != nil {
		return err
	}
	k.NoDaemon = true
	err = k.With(ctx, n, f)
	if errors.Is(err, memory.ErrLocked) {
		k.ReadOnly = true
		err = k.With(ctx, n, f)
	}
	return err
}
