package local_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"kioku/embed/local"
)

// chunks returns texts of about 1,600 characters of the documentation of Kioku.
func chunks(tb testing.TB) []string {
	tb.Helper()
	files, err := filepath.Glob("../../docs/*.md")
	if err != nil || len(files) == 0 {
		tb.Fatal("no documents", err)
	}
	var out []string
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			tb.Fatal(err)
		}
		for text := string(content); len(text) > 1600; text = text[1600:] {
			out = append(out, strings.ToValidUTF8(text[:1600], ""))
		}
	}
	return out
}

// BenchmarkStatic measures how many chunks of about 400 tokens a static model embeds with all processors: the trained one of
// the tests, and the one in KIOKU_STATIC.
func BenchmarkStatic(b *testing.B) {
	texts := chunks(b)
	trained := b.TempDir()
	writeStatic(b, trained)
	for name, dir := range map[string]string{"trained": trained, "real": os.Getenv("KIOKU_STATIC")} {
		if dir == "" {
			continue
		}
		b.Run(name, func(b *testing.B) {
			m, err := local.Open(dir, local.Options{})
			if err != nil {
				b.Fatal(err)
			}
			defer m.Close()
			var done, tokens atomic.Int64
			b.SetParallelism(1)
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					i := int(done.Add(1)) % len(texts)
					e, err := m.Embed(b.Context(), local.Document, texts[i:i+1])
					if err != nil || e[0].Err != nil {
						b.Error(err, e)
						return
					}
					tokens.Add(int64(e[0].Tokens))
				}
			})
			b.ReportMetric(float64(done.Load())/b.Elapsed().Seconds(), "chunks/s")
			b.ReportMetric(float64(tokens.Load())/float64(done.Load()), "tokens/chunk")
			b.ReportMetric(float64(runtime.GOMAXPROCS(0)), "procs")
		})
	}
}
