package store

import (
	"context"
	"database/sql"
	_ "embed"
	"errors"
	"fmt"
	"kioku/memory"
	"log/slog"
	"strings"
)

// schemaSQL is the whole schema; every statement leaves what is there already alone.
//
//go:embed schema.sql
var schemaSQL string

const (
	// applicationID marks a database file as Kioku's: "Kiok" in ASCII.
	applicationID = 0x4b696f6b
	// schemaVersion goes up with every change of schema.sql or of analysis.ChunkTerms. An index of an older version is
	// emptied but for its vectors, which the embedding cache keeps.
	schemaVersion = 6
)

// migrate brings the database to the schema of this program. It returns memory.ErrForeignFile for another program's database
// and memory.ErrNewerSchema for one that a newer Kioku wrote; both are left as they are.
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
	// Pragmas take no placeholders; both numbers are constants of this file.
	pragmas := fmt.Sprintf("PRAGMA application_id = %d; PRAGMA user_version = %d", applicationID, schemaVersion)
	if _, err := tx.ExecContext(ctx, pragmas); err != nil {
		return fmt.Errorf("mark database: %w", err)
	}
	return tx.Commit()
}

// schemaVersionOf returns the schema version of a database that is Kioku's or empty.
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

// nextGeneration returns the generation after that of an index of an older schema, so that no other process takes what it
// remembers of the old index for the new one; 0 where there is no index.
func nextGeneration(ctx context.Context, tx *sql.Tx) (int64, error) {
	var there bool
	var next int64
	err := tx.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM pragma_table_info('meta') WHERE name = 'generation')").Scan(&there)
	if err == nil && there {
		err = tx.QueryRowContext(ctx, "SELECT coalesce(max(generation), 0) + 1 FROM meta").Scan(&next)
	}
	if err != nil {
		return 0, fmt.Errorf("read generation: %w", err)
	}
	return next, nil
}

// dropIndex removes every table but the embedding cache, which takes over the vectors.
func dropIndex(ctx context.Context, tx *sql.Tx, log *slog.Logger) error {
	if err := keepVectors(ctx, tx, log); err != nil {
		return err
	}
	if err := dropVectors(ctx, tx); err != nil {
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

// errNoFTS5 tells how to build with FTS5.
var errNoFTS5 = errors.New("this binary was built without FTS5; build it with -tags sqlite_fts5 (make build does)")

// schemaError explains the one mistake in building that shows only here.
func schemaError(err error) error {
	if strings.Contains(err.Error(), "no such module: fts5") {
		return errNoFTS5
	}
	return fmt.Errorf("create schema: %w", err)
}
