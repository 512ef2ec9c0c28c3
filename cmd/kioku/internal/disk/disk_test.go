package disk_test

import (
	"errors"
	"testing"

	"kioku/cmd/kioku/internal/disk"
)

func TestCheckSpace(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if _, known := disk.FreeBytes(dir); !known {
		t.Skip("the free space is not known on this system")
	}
	if err := disk.CheckSpace(dir, 1<<60); !errors.Is(err, disk.ErrFull) {
		t.Errorf("%v", err)
	}
	if err := disk.CheckSpace(dir, 1); err != nil {
		t.Errorf("%v", err)
	}
}
