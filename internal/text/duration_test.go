package text

import (
	"testing"
	"time"
)

func TestAbout(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{
		0: "1 s", 40*time.Second + 300*time.Millisecond: "40 s", 4*time.Minute + 20*time.Second: "4 min", 99 * time.Minute: "99 min", 3 * time.Hour: "3 h",
	} {
		if got := About(d); got != want {
			t.Errorf("%v: got %q, want %q", d, got, want)
		}
	}
}
