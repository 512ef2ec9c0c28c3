package text

import (
	"fmt"
	"time"
)

// About returns a duration for people who wait: "40 s", "4 min" or "3 h".
func About(d time.Duration) string {
	switch {
	case d < 100*time.Second:
		return fmt.Sprintf("%.0f s", max(d.Seconds(), 1))
	case d < 100*time.Minute:
		return fmt.Sprintf("%.0f min", d.Minutes())
	}
	return fmt.Sprintf("%.0f h", d.Hours())
}
