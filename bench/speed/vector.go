package speed

import (
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"

	vec "github.com/asg017/sqlite-vec-go-bindings/cgo"
	_ "github.com/mattn/go-sqlite3" // the driver of the yardsticks
	"github.com/viterin/vek/vek32"

	"kioku/store/vector"
)

const (
	vectorDims = 768
	// manyVectors is how many there are where the size of the run does not say it.
	manyVectors = 100_000
	// nearestK is how many neighbours a search takes.
	nearestK = 24
	// vectorRounds is how often each of two things is measured.
	vectorRounds = 15
)

// vectorBenches measure the search for vectors.
func vectorBenches() []Bench {
	return []Bench{
		{Name: "vector exact", Unit: "ms", Goal: 1.3, Sized: true, Run: exactAgainstReading},
		{Name: "vector exact, vec0", Unit: "ms", Goal: 0.2, Sized: true, Run: exactAgainstVec0},
		{Name: "vector by codes", Unit: "ms", Goal: 0.4, Run: codesAgainstReading},
		{Name: "vector tenth", Unit: "ms", Goal: 0.15, Run: tenthAgainstWhole},
	}
}

// exactAgainstReading compares the exact search with one sum over the same bytes.
func exactAgainstReading(_ context.Context, e *Env) (float64, float64, error) {
	set, slab, err := heldVectors(e.Size)
	if err != nil {
		return 0, 0, err
	}
	var sum float32
	return medians(vectorRounds,
		func() error { _, err := slab.Exact(set.query(), nearestK, nil); return err },
		func() error { sum += vek32.Sum(set.data); return finite(sum) })
}

// finite fails for what is no number; it keeps the sum from being left out.
func finite(sum float32) error {
	if math.IsNaN(float64(sum)) {
		return errors.New("the sum is no number")
	}
	return nil
}

// codesAgainstReading compares the search by codes with one sum over the bytes of the vectors. It fails where fewer than
// 99 of 100 neighbours are found.
func codesAgainstReading(_ context.Context, _ *Env) (float64, float64, error) {
	set, slab, err := heldVectors(manyVectors)
	if err != nil {
		return 0, 0, err
	}
	if !slab.Coded() {
		return 0, 0, errors.New("the codes are switched off")
	}
	if err := checkRecall(slab, set); err != nil {
		return 0, 0, err
	}
	var sum float32
	return medians(vectorRounds,
		func() error { _, err := slab.Nearest(set.query(), nearestK, nil); return err },
		func() error { sum += vek32.Sum(set.data); return finite(sum) })
}

// checkRecall compares the ten nearest by codes with the exact ones.
func checkRecall(slab *vector.Slab, set *vectorSet) error {
	const queries, k = 50, 10
	found := 0
	for range queries {
		q := set.query()
		got, err := slab.Nearest(q, k, nil)
		if err != nil {
			return err
		}
		want, err := slab.Exact(q, k, nil)
		if err != nil {
			return err
		}
		for _, n := range want {
			if slices.Contains(got, n) {
				found++
			}
		}
	}
	if recall := float64(found) / (queries * k); recall < 0.99 {
		return fmt.Errorf("recall@%d is %.3f, less than 0.99", k, recall)
	}
	return nil
}

// tenthAgainstWhole compares the search of an agent with a tenth of the vectors with that of all.
func tenthAgainstWhole(_ context.Context, _ *Env) (float64, float64, error) {
	set, whole, err := heldVectors(manyVectors)
	if err != nil {
		return 0, 0, err
	}
	tenth, err := set.slab(manyVectors / 10)
	if err != nil {
		return 0, 0, err
	}
	return medians(vectorRounds,
		func() error { _, err := tenth.Nearest(set.query(), nearestK, nil); return err },
		func() error { _, err := whole.Nearest(set.query(), nearestK, nil); return err })
}

// exactAgainstVec0 compares the exact search with vec0's, of a database with the same vectors. It fails where the two
// answers differ.
func exactAgainstVec0(ctx context.Context, e *Env) (float64, float64, error) {
	set, slab, err := heldVectors(e.Size)
	if err != nil {
		return 0, 0, err
	}
	db, err := vec0Of(ctx, filepath.Join(e.Dir, "vec0.sqlite"), set)
	if err != nil {
		return 0, 0, err
	}
	defer db.Close()
	rounds := vectorRounds
	var q []float32
	var ours []vector.Neighbor
	return medians(rounds,
		func() (err error) { q = set.query(); ours, err = slab.Exact(q, nearestK, nil); return err },
		func() error {
			theirs, err := nearestVec0(ctx, db, q)
			return errors.Join(err, sameNeighbors(ours, theirs))
		})
}

// sameNeighbors returns an error where two lists differ by more than ties.
func sameNeighbors(a, b []vector.Neighbor) error {
	const tie = 3e-6 // what float32 arithmetic can be off
	if len(a) != len(b) {
		return fmt.Errorf("%d neighbours, vec0 has %d", len(a), len(b))
	}
	for i := range a {
		if math.Abs(a[i].Cosine-b[i].Cosine) > tie {
			return fmt.Errorf("neighbour %d is %+v, vec0 has %+v", i, a[i], b[i])
		}
		same := func(n vector.Neighbor) bool { return n.ID == a[i].ID }
		if a[i].Cosine > b[len(b)-1].Cosine+tie && !slices.ContainsFunc(b, same) {
			return fmt.Errorf("neighbour %d, %+v, is not found by vec0", i, a[i])
		}
	}
	return nil
}

// vec0Of makes a database with the vectors of a set.
func vec0Of(ctx context.Context, path string, set *vectorSet) (*sql.DB, error) {
	vec.Auto()
	db, err := sql.Open("sqlite3", "file:"+path+"?_journal_mode=OFF&_sync=0&_cache_size=-64000")
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	if err := fillVec0(ctx, db, set); err != nil {
		return nil, errors.Join(fmt.Errorf("fill vec0: %w", err), db.Close())
	}
	return db, nil
}

// fillVec0 writes a set to a new table v.
func fillVec0(ctx context.Context, db *sql.DB, set *vectorSet) error {
	// A table's definition takes no placeholders; vectorDims is a number.
	make := fmt.Sprintf("PRAGMA mmap_size = 1073741824; CREATE VIRTUAL TABLE v USING vec0 (e float[%d] distance_metric=cosine)", vectorDims)
	if _, err := db.ExecContext(ctx, make); err != nil {
		return err
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	insert, err := tx.PrepareContext(ctx, "INSERT INTO v (rowid, e) VALUES (?, ?)")
	if err != nil {
		return err
	}
	for i := range set.len() {
		if _, err := insert.ExecContext(ctx, i+1, blobOf(set.row(i))); err != nil {
			return err
		}
	}
	return tx.Commit()
}

// nearestVec0 returns the neighbours as vec0 finds them.
func nearestVec0(ctx context.Context, db *sql.DB, q []float32) ([]vector.Neighbor, error) {
	rows, err := db.QueryContext(ctx, "SELECT rowid, distance FROM v WHERE e MATCH ? AND k = ? ORDER BY distance", blobOf(q), nearestK)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var near []vector.Neighbor
	for rows.Next() {
		var n vector.Neighbor
		var distance float64
		if err := rows.Scan(&n.ID, &distance); err != nil {
			return nil, err
		}
		n.Cosine = 1 - distance
		near = append(near, n)
	}
	return near, rows.Err()
}

// blobOf returns a vector as vec0 takes it.
func blobOf(v []float32) []byte {
	b := make([]byte, 0, 4*len(v))
	for _, x := range v {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
	}
	return b
}
