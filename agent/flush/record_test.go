package flush

import (
	"bytes"
	"testing"
)

func FuzzSpool(f *testing.F) {
	for _, s := range []string{"", "{}\n", "{}\n[1, \"二\"]\n", "{}", "\n", "null\n\xff\n", "{}\n{\"a\":"} {
		f.Add([]byte(s), bytes.Count([]byte(s), []byte("\n")))
	}
	f.Fuzz(func(t *testing.T, lines []byte, messages int) {
		spool, err := parseSpool(lines, messages)
		if err != nil {
			return
		}
		if len(spool) != messages {
			t.Errorf("%d messages of %d", len(spool), messages)
		}
		compact, err := spoolLines(spool)
		if err != nil {
			t.Fatalf("what was read cannot be written: %v", err)
		}
		again, err := parseSpool(compact, messages)
		if err != nil {
			t.Fatalf("what was written cannot be read: %v", err)
		}
		if second, err := spoolLines(again); err != nil || !bytes.Equal(second, compact) {
			t.Errorf("%q became %q, %v", compact, second, err)
		}
	})
}
