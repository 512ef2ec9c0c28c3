package encoder

import (
	"context"
	"runtime/debug"
	"sync"
	"sync/atomic"
)

const (
	// batchTokens is the largest number of tokens of a batch of several texts: enough to use each weight often while it is in
	// the processor's cache, and few enough that the hidden states are there too.
	batchTokens = 384
	// minBatchTokens is the number of tokens for which a thread of its own pays.
	minBatchTokens = 128
)

// batch contains the hidden states of several texts, one row a token. Texts follow one another without padding.
type batch struct {
	starts  []int32       // first row of each text, and at the end the number of rows
	longest int           // number of rows of the longest text
	stride  int           // numbers from one row to the next
	arena   []float32     // the rows, and after them the memory that the pass works in
	stop    *atomic.Int32 // not 0 if the caller has given up
}

// rows returns the number of rows.
func (b *batch) rows() int { return int(b.starts[len(b.starts)-1]) }

// row returns a row.
func (b *batch) row(i, dims int) []float32 { return b.arena[i*b.stride:][:dims] }

// pass is a forward pass for the weights of a model.
type pass interface {
	// name returns the name of the code.
	name() string
	// stride returns the distance of two rows of a batch.
	stride() int
	// arena returns how many numbers a batch needs for its rows and for the work with them.
	arena(rows, longest, threads int) int
	// run normalises the rows, which are sums of embeddings, and replaces them by the hidden states of the last layer.
	run(b *batch, threads int)
	// close frees the weights.
	close()
}

// arenas contains the memory of former batches.
var arenas sync.Pool

// newArena returns memory for at least n numbers. Their values are undefined.
func newArena(n int) *[]float32 {
	if a, ok := arenas.Get().(*[]float32); ok && len(*a) >= n {
		return a
	}
	a := make([]float32, n)
	return &a
}

// split returns the ends of the runs of inputs that are computed together.
func split(inputs []Input, threads int) []int {
	total := 0
	for _, in := range inputs {
		total += len(in.IDs)
	}
	most := min(batchTokens, max(minBatchTokens, (total+threads-1)/threads))
	var ends []int
	tokens := 0
	for i, in := range inputs {
		if i > 0 && tokens+len(in.IDs) > most {
			ends = append(ends, i)
			tokens = 0
		}
		tokens += len(in.IDs)
	}
	return append(ends, len(inputs))
}

// encodeAll writes the result of each input to out. Each thread computes batches; if there is only one batch, all threads
// share it.
func (e *Encoder) encodeAll(ctx context.Context, inputs []Input, out [][]float32, threads int) error {
	if len(inputs) == 0 {
		return ctx.Err()
	}
	stop := new(atomic.Int32)
	defer context.AfterFunc(ctx, func() { stop.Store(1) })()
	ends := split(inputs, threads)
	if len(ends) == 1 {
		e.encodeBatch(inputs, out, stop, threads)
		return e.checkOutput(ctx, out)
	}
	var next atomic.Int32
	var workers sync.WaitGroup
	for range min(threads, len(ends)) {
		workers.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(ends) && stop.Load() == 0; i = int(next.Add(1)) - 1 {
				from := 0
				if i > 0 {
					from = ends[i-1]
				}
				e.encodeBatch(inputs[from:ends[i]], out[from:ends[i]], stop, 1)
			}
		})
	}
	workers.Wait()
	return e.checkOutput(ctx, out)
}

// checkOutput returns the error of ctx if it is done, and ErrNotFinite if a result is missing or no number.
func (e *Encoder) checkOutput(ctx context.Context, out [][]float32) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	for _, v := range out {
		if v == nil || !finite(v) {
			return ErrNotFinite
		}
	}
	return nil
}

// encodeBatch computes a batch.
func (e *Encoder) encodeBatch(inputs []Input, out [][]float32, stop *atomic.Int32, threads int) {
	b := &batch{starts: make([]int32, 1, len(inputs)+1), stride: e.pass.stride(), stop: stop}
	for _, in := range inputs {
		b.starts = append(b.starts, b.starts[len(b.starts)-1]+int32(len(in.IDs)))
		b.longest = max(b.longest, len(in.IDs))
	}
	arena := newArena(e.pass.arena(b.rows(), b.longest, threads))
	defer arenas.Put(arena)
	b.arena = *arena
	if !e.gather(b, inputs) {
		return // without a result, which checkOutput refuses
	}
	e.pass.run(b, threads)
	for i := range inputs {
		out[i] = e.result(b, int(b.starts[i]), int(b.starts[i+1]))
	}
}

// gather writes the embeddings of all tokens of a batch. It returns false if a number is not finite, or if the embeddings cannot be
// read because their file was cut off while it was mapped, which would otherwise end the process.
func (e *Encoder) gather(b *batch, inputs []Input) (ok bool) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if fault := recover(); fault != nil {
			if _, memory := fault.(interface{ Addr() uintptr }); !memory {
				panic(fault)
			}
			ok = false
		}
	}()
	for i, in := range inputs {
		for j := range in.IDs {
			row := b.row(int(b.starts[i])+j, e.config.Hidden)
			if e.embed(row, in, j); !finite(row) {
				return false
			}
		}
	}
	return true
}

// embed writes the sum of the embeddings of a token.
func (e *Encoder) embed(row []float32, in Input, j int) {
	dims, kind := len(row), 0
	if in.Types != nil {
		kind = int(in.Types[j])
	}
	_ = e.table.words.Decode(row, int(in.IDs[j])*dims) // New has checked its type
	position, segment := e.table.positions[(e.offset+j)*dims:][:dims], e.table.types[kind*dims:][:dims]
	for i := range row {
		row[i] += position[i] + segment[i]
	}
}
