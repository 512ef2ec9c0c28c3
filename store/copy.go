package store

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"time"

	"github.com/mattn/go-sqlite3"

	"kioku/store/slab"
	"kioku/vectors"
)

// copyPages is the number of pages that one step of a copy reads.
const copyPages = 1024

// Copy writes the index, as it is at one moment, to a new file at path with mode 0600, while others read and write the index. The
// copy is an index itself, with the checksum of each page. progress is called after each step with the
// number of copied pages and of all pages; it may be nil. After an error, there is no file at path.
func (s *Store) Copy(ctx context.Context, path string, progress func(done, total int)) error {
	err := s.use(ctx, func(x *index) error { return x.copyTo(ctx, path, progress) })
	if err != nil {
		return fmt.Errorf("copy the index: %w", err)
	}
	return nil
}

// copyTo implements Store.Copy.
func (x *index) copyTo(ctx context.Context, path string, progress func(done, total int)) (err error) {
	if exists(path) {
		return &os.PathError{Op: "create", Path: path, Err: os.ErrExist}
	}
	if err := createPrivate(path); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, removeIndex(path))
		}
	}()
	to, err := openDatabase(path, x.db.pages.ID(), modeCreate)
	if err != nil {
		return err
	}
	err = x.copyPages(ctx, to, progress)
	return errors.Join(err, to.close())
}

// copyPages copies all pages in one read transaction, so that commits during the copy are not in it.
func (x *index) copyPages(ctx context.Context, to *database, progress func(done, total int)) error {
	source, err := x.db.readers.Conn(ctx)
	if err != nil {
		return err
	}
	defer source.Close()
	target, err := to.writer.Conn(ctx)
	if err != nil {
		return err
	}
	defer target.Close()
	if _, err := source.ExecContext(ctx, "BEGIN"); err != nil {
		return err
	}
	defer source.ExecContext(context.WithoutCancel(ctx), "ROLLBACK")
	var generation int64 // the first read begins the snapshot
	if err := source.QueryRowContext(ctx, "SELECT generation FROM meta").Scan(&generation); err != nil {
		return err
	}
	return source.Raw(func(from any) error {
		return target.Raw(func(into any) error { return backUp(ctx, into.(driver.Conn), from.(driver.Conn), progress) })
	})
}

// backUp runs the online backup of SQLite between two connections.
func backUp(ctx context.Context, into, from driver.Conn, progress func(done, total int)) error {
	b, err := into.(*sqlite3.SQLiteConn).Backup("main", from.(*sqlite3.SQLiteConn), "main")
	if err != nil {
		return err
	}
	for done := false; !done && err == nil; {
		if done, err = b.Step(copyPages); err == nil && progress != nil {
			progress(b.PageCount()-b.Remaining(), b.PageCount())
		}
		if err == nil {
			err = ctx.Err()
		}
	}
	return errors.Join(err, b.Finish())
}

// CheckCopy compares the pages, tables, texts and vectors of a file that [Store.Copy] has written with each other, with their checksums and
// with a copy of the cache of embeddings, which may be missing. It returns what it has found. It changes no file but for those -wal and -shm,
// which it removes. A copy of an earlier version is not checked: it is read once it is opened.
func CheckCopy(ctx context.Context, path, embeddings string) (Checked, error) {
	if h, err := ReadHeader(path, indexFormat); err == nil && h.Kind == FileOlder {
		return Checked{}, nil
	}
	workspace, err := WorkspaceOf(ctx, path)
	if err != nil {
		return Checked{}, err
	}
	cache, err := vectors.Open(ctx, embeddings, vectors.Options{ReadOnly: true})
	if err != nil {
		return Checked{}, err
	}
	s, err := Open(ctx, path, Options{Workspace: workspace, ReadOnly: true, Cache: cache, Vectors: slab.NewBudget(0), Now: time.Now,
		Log: slog.New(slog.NewTextHandler(io.Discard, nil))})
	if err != nil {
		return Checked{}, errors.Join(err, cache.Close())
	}
	checked, err := s.Inspect(ctx, ctx.Err)
	return checked, errors.Join(err, s.Close(), cache.Close(), dropEmptyLog(path), dropEmptyLog(embeddings))
}

// Rebind makes a file that [Store.Copy] has written the index of another folder, whose files are the same. Nobody may have the
// file open.
func Rebind(ctx context.Context, path, workspace string) error {
	h, err := ReadHeader(path, indexFormat)
	if err != nil {
		return fmt.Errorf("open index %s: %w", path, err)
	}
	db, err := openDatabase(path, h.pageID(), modeWrite)
	if err != nil {
		return fmt.Errorf("open index %s: %w", path, err)
	}
	if _, err = db.writer.ExecContext(ctx, "UPDATE meta SET workspace = ?", workspace); err == nil {
		_, err = db.writer.ExecContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)")
	}
	if err = errors.Join(err, db.close()); err == nil {
		err = dropEmptyLog(path)
	}
	if err != nil {
		return fmt.Errorf("give the index to %s: %w", workspace, err)
	}
	return nil
}

// dropEmptyLog removes the empty log of an index that nobody has open.
func dropEmptyLog(path string) error {
	if fileSize(path+"-wal") > 0 {
		return fmt.Errorf("the log of %s still has changes", path)
	}
	for _, suffix := range []string{"-wal", "-shm"} {
		if err := os.Remove(path + suffix); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return nil
}
