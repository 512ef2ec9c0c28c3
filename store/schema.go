package store

import (
	"context"
	"database/sql"
	_ "embed"
	"errors"
	"fmt"
	"log/slog"
	"strings"

	"kioku/memory"
)

// schemaSQL is the whole schema. Its statements do not change tables that exist.
//
//go:embed schema.sql
var schemaSQL string

const (
	// applicationID marks a database file as Kioku's: "Kiok" in ASCII.
	applicationID = 0x4b696f6b
	// schemaVersion is incremented with every change of schema.sql or of analysis.ChunkTerms. An index of an older version is
	// emptied, and its vectors move to the embedding cache.
	schemaVersion = 6
)

// migrate updates the database to the current schema. It returns memory.ErrForeignFile for another program's database and
// memory.ErrNewerSchema for one that a newer Kioku wrote, and changes neither.
func migrate(ctx context.Context, db *sql.DB, log *slog.Logger) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	defer tx.Rollback()
	version, err := schemaVersionOf(ctx, tx)
	if err != nil {
		return err
	}
	var generation int64
	if version < schemaVersion {
		if generation, err = nextGeneration(ctx, tx); err != nil {
			return err
		}
		if err := dropIndex(ctx, tx, log); err != nil {
			return err
		}
	}
	if _, err := tx.ExecContext(ctx, schemaSQL); err != nil {
		return schemaError(err)
	}
	if generation > 0 {
		if _, err := tx.ExecContext(ctx, "UPDATE meta SET generation = ?", generation); err != nil {
			return fmt.Errorf("carry over generation: %w", err)
		}
	}
	// Pragmas take no placeholders. Both numbers are constants.
	pragmas := fmt.Sprintf("PRAGMA application_id = %d; PRAGMA user_version = %d", applicationID, schemaVersion)
	if _, err := tx.ExecContext(ctx, pragmas); err != nil {
		return fmt.Errorf("mark database: %w", err)
	}
	return tx.Commit()
}

// schemaVersionOf returns the schema version of one of Kioku's databases, 0 for an empty file.
func schemaVersionOf(ctx context.Context, q queryer) (int, error) {
	var app, version, tables int
	row := q.QueryRowContext(ctx, `SELECT (SELECT application_id FROM pragma_application_id),
		(SELECT user_version FROM pragma_user_version), (SELECT count(*) FROM sqlite_master)`)
	if err := row.Scan(&app, &version, &tables); err != nil {
		return 0, fmt.Errorf("read schema version: %w", err)
	}
	switch {
	case app != applicationID && tables > 0:
		return 0, fmt.Errorf("%w: its application id is %#x; move it away or choose another state folder",
			memory.ErrForeignFile, uint32(app))
	case version > schemaVersion:
		return 0, fmt.Errorf("%w: schema %d, this program knows %d; update kioku, or move the file away to build a new index",
			memory.ErrNewerSchema, version, schemaVersion)
	}
	return version, nil
}

// nextGeneration returns the generation that follows that of an index of an older schema, 0 if there is no index. Because the
// generation increases, no other process takes its cached copy of the old index for the new one.
func nextGeneration(ctx context.Context, tx *sql.Tx) (int64, error) {
	var exists bool
	var next int64
	err := tx.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM pragma_table_info('meta') WHERE name = 'generation')").Scan(&exists)
	if err == nil && exists {
		err = tx.QueryRowContext(ctx, "SELECT coalesce(max(generation), 0) + 1 FROM meta").Scan(&next)
	}
	if err != nil {
		return 0, fmt.Errorf("read generation: %w", err)
	}
	return next, nil
}

// dropIndex moves the vectors to the embedding cache and removes every other table.
func dropIndex(ctx context.Context, tx *sql.Tx, log *slog.Logger) error {
	if err := salvageVectors(ctx, tx, log); err != nil {
		return err
	}
	for _, stmt := range []string{
		"DROP TABLE IF EXISTS chunks_vocab", "DROP TABLE IF EXISTS chunks_fts",
		"DROP TABLE IF EXISTS chunks", "DROP TABLE IF EXISTS files", "DROP TABLE IF EXISTS meta",
	} {
		if _, err := tx.ExecContext(ctx, stmt); err != nil {
			return fmt.Errorf("drop old index: %w", err)
		}
	}
	return nil
}

// errNoFTS5 says how to build with FTS5.
var errNoFTS5 = errors.New("this binary was built without FTS5; build it with -tags sqlite_fts5 (make build does)")

// schemaError explains the error of a binary without FTS5.
func schemaError(err error) error {
	if strings.Contains(err.Error(), "no such module: fts5") {
		return errNoFTS5
	}
	return fmt.Errorf("create schema: %w", err)
}
