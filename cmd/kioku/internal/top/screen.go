package top

import (
	"fmt"
	"time"

	"kioku/bench"
	"kioku/cmd/kioku/internal/render"
)

// maxSlow is the number of slow calls that are shown.
const maxSlow = 8

// Write adds a view to a page. The clock is that of the reader.
func (v View) Write(p *render.Page, now time.Time) {
	p.Linef("%s", render.Bold(v.title(now)))
	if s := v.Process; s != nil {
		p.Linef("calls %s/s   failed %s/s   under way %.0f   refused %s/s", rate(s.Calls), rate(s.Failed), s.InFlight, rate(s.Refused))
		p.Linef("memory %s   vectors and words %s of %s", bytes(s.MemoryBytes), bytes(s.ResidentBytes), bytes(s.BudgetBytes))
		p.Linef("processors %.2f   goroutines %.0f   open files %.0f", s.Processors, s.Goroutines, s.OpenFiles)
	}
	p.Linef("")
	p.Table(v.searchTable())
	p.Linef("")
	p.Table(v.indexTable())
	if len(v.Councils) > 0 {
		p.Linef("")
		p.Table(v.councilTable())
	}
	if len(v.Slow) > 0 {
		p.Linef("")
		p.Table(v.slowTable())
	}
	if len(v.Egress) > 0 {
		p.Linef("")
		p.Table(v.egressTable())
	}
}

// title returns the first line.
func (v View) title(now time.Time) string {
	title := "kioku " + v.Version
	if v.Uptime > 0 {
		title += "   up " + span(v.Uptime)
	}
	over := "since the start"
	if v.Window > 0 && v.Window < v.Uptime-1 || v.Uptime == 0 && v.Window > 0 {
		over = "over " + span(v.Window)
	}
	return title + "   " + over + "   " + now.Format(time.TimeOnly)
}

// searchTable and indexTable are two, so that a terminal of 80 columns shows all of them.
func (v View) searchTable() bench.Table {
	t := bench.Table{Head: []string{"agent", "searches/s", "p50 ms", "p99 ms", "no hit", "degraded"}}
	for _, a := range v.Agents {
		if !a.Up {
			t.Rows = append(t.Rows, bench.TableRow{Cells: []string{a.ID, "its index cannot be read"}, Strong: true})
			continue
		}
		t.Rows = append(t.Rows, bench.TableRow{Cells: []string{a.ID, rate(a.Searches), millis(a.P50), millis(a.P99), percent(a.WithoutHits), percent(a.Degraded)}})
	}
	return t
}

func (v View) indexTable() bench.Table {
	t := bench.Table{Head: []string{"index", "pending", "backlog", "lag p95", "files", "chunks", "memory", "disk"}}
	for _, a := range v.Agents {
		if a.Up {
			t.Rows = append(t.Rows, bench.TableRow{Cells: []string{a.ID, count(a.Pending), count(a.Backlog), lag(a.Lag), count(a.Files), count(a.Chunks),
				bytes(a.ResidentBytes), bytes(a.DiskBytes)}})
		}
	}
	return t
}

func (v View) councilTable() bench.Table {
	t := bench.Table{Head: []string{"council", "open", "wait", "stalled", "absent", "tokens today", "cost"}}
	for _, c := range v.Councils {
		dollars := ""
		if c.Cost > 0 {
			dollars = fmt.Sprintf("$%.2f", c.Cost)
		}
		t.Rows = append(t.Rows, bench.TableRow{Cells: []string{c.Agent, count(c.Open), count(c.Waiting), count(c.Stalled), count(c.Absent),
			percent(c.Tokens/max(c.Limit, 1)) + " of " + count(c.Limit), dollars}, Strong: c.Stalled+c.Absent > 0})
	}
	return t
}

func (v View) slowTable() bench.Table {
	t := bench.Table{Head: []string{"slow calls", "agent", "time", "took", "outcome", "request"}}
	for _, s := range v.Slow[:min(len(v.Slow), maxSlow)] {
		t.Rows = append(t.Rows, bench.TableRow{Cells: []string{s.Method, s.Agent, s.Time.Local().Format(time.TimeOnly), fmt.Sprintf("%.0f ms", s.Took), s.Code, s.Request}})
	}
	return t
}

func (v View) egressTable() bench.Table {
	t := bench.Table{Head: []string{"sent to other machines", "requests", "bytes", "refused"}}
	for _, e := range v.Egress {
		t.Rows = append(t.Rows, bench.TableRow{Cells: []string{e.Purpose, count(e.Requests), bytes(e.Bytes), count(e.Refused)}})
	}
	return t
}

// rate formats a number of events a second.
func rate(perSecond float64) string {
	switch {
	case perSecond == 0:
		return "0"
	case perSecond < 10:
		return fmt.Sprintf("%.2f", perSecond)
	}
	return fmt.Sprintf("%.0f", perSecond)
}

// millis formats milliseconds, "-" for none.
func millis(ms *float64) string {
	switch {
	case ms == nil:
		return "-"
	case *ms < 10:
		return fmt.Sprintf("%.1f", *ms)
	}
	return fmt.Sprintf("%.0f", *ms)
}

// lag formats seconds, "-" for none.
func lag(seconds *float64) string {
	if seconds == nil {
		return "-"
	}
	return fmt.Sprintf("%.1f s", *seconds)
}

// percent formats a share.
func percent(share float64) string { return fmt.Sprintf("%.0f%%", 100*share) }

// count formats a number of things.
func count(n float64) string { return render.Number(int(n)) }

// bytes formats a number of bytes.
func bytes(n float64) string { return render.Size(int64(n)) }

// span formats a number of seconds: "42 s", "12 min", "3 h 12 min", "4 d 3 h".
func span(seconds float64) string {
	switch s := int(seconds + 0.5); {
	case s < 60:
		return fmt.Sprintf("%d s", s)
	case s < 3600:
		return fmt.Sprintf("%d min", s/60)
	case s < 86400:
		return fmt.Sprintf("%d h %d min", s/3600, s%3600/60)
	default:
		return fmt.Sprintf("%d d %d h", s/86400, s%86400/3600)
	}
}
