package indexer_test

import (
	"fmt"
	"testing"

	"kioku/indexer"
)

// BenchmarkSync measures the first sync of a folder, and one that finds nothing new.
func BenchmarkSync(b *testing.B) {
	for _, n := range []int{2000, 20000} {
		b.Run(fmt.Sprintf("files=%d", n), func(b *testing.B) {
			dir := b.TempDir()
			f := &fixture{T: &testing.T{}, dir: dir}
			for i := range n {
				f.write(fmt.Sprintf("memory/%03d/%05d.md", i%200, i), fmt.Sprintf("note %d\nsecond line", i))
			}
			b.Run("first", func(b *testing.B) {
				for b.Loop() {
					syncOnce(b, indexer.New(&paragraphs{}, newMemIndex(), indexer.Options{Workspace: dir}))
				}
				b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/float64(n), "µs/file")
			})
			b.Run("unchanged", func(b *testing.B) {
				x := indexer.New(&paragraphs{}, newMemIndex(), indexer.Options{Workspace: dir})
				syncOnce(b, x)
				for b.Loop() {
					syncOnce(b, x)
				}
				b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/float64(n), "µs/file")
			})
		})
	}
}

func syncOnce(b *testing.B, x *indexer.Indexer) {
	b.Helper()
	if _, err := x.Sync(b.Context(), indexer.SyncOptions{}, nil); err != nil {
		b.Fatal(err)
	}
}
