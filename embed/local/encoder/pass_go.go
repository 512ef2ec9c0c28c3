//go:build !cgo

package encoder

import "errors"

// newPass returns an error: the forward pass is C.
func newPass(Config, embeddings, []layer, bool) (pass, error) {
	return nil, errors.New("this program was built without cgo, which local models need")
}
