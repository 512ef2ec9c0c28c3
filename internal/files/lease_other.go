//go:build !linux

package files

import (
	"errors"
	"os"
)

// lease returns an error: only Linux has leases.
func lease(*os.File) (release func(), err error) { return nil, errors.ErrUnsupported }
