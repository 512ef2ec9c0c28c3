package rule_test

import (
	"fmt"
	"strings"
	"testing"

	"kioku/derive/rule"
	"kioku/memory"
)

// month returns a dated note with n sections, of which every third says something that the rules know.
func monthNote(day, n int) memory.SourceFile {
	date := fmt.Sprintf("2026-%02d-%02d", 1+day/28%12, 1+day%28)
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n", date)
	for i := range n {
		fmt.Fprintf(&b, "\n## %02d:%02d - note\n", i/60%24, i%60)
		switch i % 3 {
		case 0:
			fmt.Fprintf(&b, "Dario Conti moved to Porto in October. The draft %d went to the printer, and nobody found the missing page.\n- [ ] call the printer %d by Friday\n", i, i)
		case 1:
			fmt.Fprintf(&b, "佐藤さんは大阪に住んでいる。会議は第%d回。\n資料は金曜までに送る予定で、部屋は三階。\n", i)
		default:
			fmt.Fprintf(&b, "A walk of %d kilometres along the river with [[people/ana-lima]]; the weather held, and the café had closed early.\n\n```\nrate = %d\n```\n", i, i)
		}
	}
	return memory.SourceFile{Path: "memory/" + date + ".md", Source: memory.SourceMemory, Date: date, Data: []byte(b.String())}
}

// BenchmarkClaims reads 50,000 episodes of 1,000 files, cuts them and draws their claims.
func BenchmarkClaims(b *testing.B) {
	r, err := rule.New(rule.Options{})
	if err != nil {
		b.Fatal(err)
	}
	var files []memory.SourceFile
	for day := range 1000 {
		files = append(files, monthNote(day, 50))
	}
	total := 0
	for b.Loop() {
		episodes, claims := 0, 0
		for _, f := range files {
			d := r.Read(f)
			for _, e := range d.Episodes() {
				c, _ := d.Claims(e)
				episodes++
				claims += len(c.Claims)
			}
		}
		if episodes != 50_000 || claims < 15_000 {
			b.Fatalf("%d episodes with %d claims", episodes, claims)
		}
		total += episodes
	}
	b.ReportMetric(float64(total)/b.Elapsed().Seconds(), "episodes/s")
}
