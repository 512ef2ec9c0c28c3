package vectors

import (
	"context"
	"database/sql/driver"
	"errors"

	"github.com/mattn/go-sqlite3"
)

// connector opens connections and sets their pragmas, without registering a driver for the whole process.
type connector struct{ dsn, pragmas string }

// writerPragmas let the log grow to 64 MB before its pages are copied, since each copy waits for the disk.
const writerPragmas = "PRAGMA wal_autocheckpoint = 16000; PRAGMA journal_size_limit = 16777216"

// Connect implements driver.Connector.
func (c connector) Connect(context.Context) (driver.Conn, error) {
	conn, err := c.Driver().Open(c.dsn)
	if err != nil || c.pragmas == "" {
		return conn, err
	}
	if _, err := conn.(*sqlite3.SQLiteConn).Exec(c.pragmas, nil); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return conn, nil
}

// Driver implements driver.Connector.
func (c connector) Driver() driver.Driver { return &sqlite3.SQLiteDriver{} }
