package speed

import (
	"context"
	"database/sql"
	"fmt"
	"net/url"

	// The driver that the yardsticks read with.
	_ "github.com/mattn/go-sqlite3"

	"kioku"
)

// searchBenches measure search.
func searchBenches() []Bench { return nil }

// openYardstick opens the index of a memory for yardsticks to read from.
func openYardstick(ctx context.Context, m *kioku.Memory) (*sql.DB, error) {
	st, err := m.Status(ctx)
	if err != nil {
		return nil, fmt.Errorf("open yardstick: %w", err)
	}
	name := url.URL{Scheme: "file", Opaque: (&url.URL{Path: st.Database}).EscapedPath(), RawQuery: "mode=ro"}
	db, err := sql.Open("sqlite3", name.String())
	if err != nil {
		return nil, fmt.Errorf("open yardstick: %w", err)
	}
	db.SetMaxOpenConns(1)
	for _, pragma := range []string{"PRAGMA mmap_size = 1073741824", "PRAGMA cache_size = -2000"} {
		if _, err := db.ExecContext(ctx, pragma); err != nil {
			return nil, fmt.Errorf("open yardstick: %w", err)
		}
	}
	return db, nil
}
