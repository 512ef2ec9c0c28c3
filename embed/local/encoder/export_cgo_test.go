//go:build cgo

package encoder

// Kernels returns the names of the kernels that this processor can run.
func Kernels() []string {
	var names []string
	for _, k := range kernels() {
		names = append(names, (&native{kernel: k}).name())
	}
	return names
}

// newPassWithKernel returns the forward pass with the kernel of a name.
func newPassWithKernel(name string, config Config, table embeddings, layers []layer, int8 bool) (pass, error) {
	for _, k := range kernels() {
		if (&native{kernel: k}).name() == name {
			return newNative(k, config, table, layers, int8)
		}
	}
	panic("no kernel " + name)
}
