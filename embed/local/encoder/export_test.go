package encoder

import "sync/atomic"

// NewWithKernel is New with the kernel of a name of Kernels.
func NewWithKernel(kernel string, config Config, tensors Tensors, options Options) (*Encoder, error) {
	e, err := New(config, tensors, options)
	if err != nil {
		return nil, err
	}
	e.pass.close()
	l, _ := newLoader(tensors)
	layers := l.layers(e.config)
	e.pass, err = newPassWithKernel(kernel, e.config, e.table, layers, options.Int8)
	return e, err
}

// RunStopped runs a batch of one text that the caller has given up, and returns the first row before and after it.
func (e *Encoder) RunStopped(in Input, threads int) (before, after []float32) {
	b := &batch{starts: []int32{0, int32(len(in.IDs))}, longest: len(in.IDs), stride: e.pass.stride(), stop: new(atomic.Int32)}
	b.stop.Store(1)
	b.arena = make([]float32, e.pass.arena(b.rows(), b.longest, threads))
	for j := range in.IDs {
		e.embed(b.row(j, e.config.Hidden), in, j)
	}
	before = append(before, b.row(0, e.config.Hidden)...)
	e.pass.run(b, threads)
	return before, b.row(0, e.config.Hidden)
}

// Dims returns the number of numbers that Encode returns for a text: 1 with the head Score.
func (e *Encoder) Dims() int {
	if e.head == Score {
		return 1
	}
	return e.config.Hidden
}

// Kernel returns the name of the code that computes, such as "avx512 int8".
func (e *Encoder) Kernel() string { return e.pass.name() }
