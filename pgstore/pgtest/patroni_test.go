package pgtest_test

import (
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"kioku/pgstore/pgtest"
)

// What was committed at a primary that is killed is at the next one, and the killed one comes back as its standby.
func TestPatroniFailsOver(t *testing.T) {
	t.Parallel()
	c := pgtest.Patroni(t)
	address := c.Database("kept")
	c.Exec("kept_node", "kept", "CREATE TABLE notes (text text)", "INSERT INTO notes VALUES ('kept')")
	old := c.Primary()
	c.Kill(old, true)
	conn, err := pgx.Connect(t.Context(), address+"&target_session_attrs=read-write")
	for ; err != nil; conn, err = pgx.Connect(t.Context(), address+"&target_session_attrs=read-write") {
		if t.Context().Err() != nil {
			t.Fatalf("nobody becomes the primary: %v", err)
		}
		time.Sleep(50 * time.Millisecond)
	}
	defer conn.Close(t.Context())
	var text string
	if err := conn.QueryRow(t.Context(), "SELECT text FROM notes").Scan(&text); err != nil || text != "kept" {
		t.Errorf("%q, %v", text, err)
	}
	c.Start(old)
	c.WaitHealthy()
	if c.Primary() == old {
		t.Error("the primary that was killed has no successor")
	}
}
