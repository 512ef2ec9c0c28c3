//go:build !cgo

package encoder

// Kernels returns the names of the kernels that this processor can run.
func Kernels() []string { return []string{plainKernel} }

// newPassWithKernel is not called: there is only the forward pass in Go.
func newPassWithKernel(name string, _ Config, _ embeddings, _ []layer, _ bool) (pass, error) {
	panic("no kernel " + name)
}
