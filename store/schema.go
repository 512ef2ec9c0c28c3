package store

import (
	"context"
	"database/sql"
	_ "embed"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
)

// schemaSQL is the whole schema.
//
//go:embed schema.sql
var schemaSQL string

const (
	// applicationID marks a database file as Kioku's: "Kiok" in ASCII.
	applicationID = 0x4b696f6b
	// schemaVersion is incremented with every change of schema.sql, of analysis.ChunkTerms or of what indexer.File says of a file.
	// An index of an older version is replaced by a new one.
	schemaVersion = 17
)

// newSuffix is the suffix of an index while it is created.
const newSuffix = ".new"

// createDraft creates an empty index beside path. publishDraft gives it its name, so that whatever is at path is a whole index.
func createDraft(ctx context.Context, path string, opt *Options, generation int64) error {
	draft := path + newSuffix
	if err := removeIndex(draft); err != nil {
		return err
	}
	if err := createPrivate(draft); err != nil {
		return err
	}
	return writeSchema(ctx, draft, opt, generation)
}

// publishDraft moves the draft to path, and removes what is there. After a kill in between there is no index, and what is left of the two is
// removed by the next start.
func publishDraft(path string) error {
	err := removeIndex(path)
	if err == nil {
		err = os.Rename(path+newSuffix, path)
	}
	if err != nil {
		return fmt.Errorf("make index: %w", err)
	}
	return errors.Join(removeIndex(path+newSuffix), syncFolder(filepath.Dir(path)))
}

// createPrivate creates an empty file with mode 0600, before SQLite creates it with a wider mode. The -wal and -shm files get
// the mode of the database.
func createPrivate(path string) error {
	err := os.WriteFile(path, nil, 0o600)
	if err == nil {
		err = os.Chmod(path, 0o600)
	}
	if err != nil {
		return fmt.Errorf("make index: %w", err)
	}
	return nil
}

// removeIndex removes a database and the files beside it, as far as they exist.
func removeIndex(path string) error {
	for _, suffix := range []string{"", "-journal", "-wal", "-shm", openSuffix} {
		if err := os.Remove(path + suffix); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return nil
}

// writeSchema writes the schema and the row of meta to an empty file.
func writeSchema(ctx context.Context, path string, opt *Options, generation int64) error {
	id := rand.Uint64()
	db, err := openDatabase(path, id, modeCreate)
	if err != nil {
		return err
	}
	err = inTx(ctx, db.writer, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, schemaSQL); err != nil {
			return fmt.Errorf("create schema: %w", err)
		}
		_, err := tx.ExecContext(ctx, "INSERT INTO meta (id, index_id, workspace, chunking, generation) VALUES (1, ?, ?, ?, ?)",
			int64(id), opt.Workspace, opt.Chunking, generation)
		if err != nil {
			return fmt.Errorf("write meta: %w", err)
		}
		// Pragmas take no placeholders. Both numbers are constants.
		_, err = tx.ExecContext(ctx, fmt.Sprintf("PRAGMA application_id = %d; PRAGMA user_version = %d", applicationID, schemaVersion))
		return err
	})
	if err == nil {
		// Only now, so that the first page of the file, and not of a log, says what the file is.
		_, err = db.writer.ExecContext(ctx, "PRAGMA journal_mode = WAL")
	}
	return errors.Join(err, db.close())
}

// inTx calls f in a transaction.
func inTx(ctx context.Context, db *sql.DB, f func(*sql.Tx) error) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	defer tx.Rollback()
	if err := f(tx); err != nil {
		return err
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	return nil
}

// syncFolder makes the names of a folder durable.
func syncFolder(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
