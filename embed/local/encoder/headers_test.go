//go:build cgo

package encoder_test

import (
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// Which headers a header includes differs between systems: stdlib.h of macOS declares wait(). So no C file has a name of its own
// that a usual header has too.
func TestNamesInCAreNotThoseOfSystemHeaders(t *testing.T) {
	t.Parallel()
	compiler, err := exec.LookPath("cc")
	if err != nil || runtime.GOOS == "windows" {
		t.Skip("no C compiler called cc, or no POSIX headers")
	}
	args := []string{"-fsyntax-only", "-Werror"}
	for _, header := range strings.Fields("ctype.h fcntl.h math.h pthread.h sched.h search.h signal.h stdio.h stdlib.h string.h strings.h " +
		"sys/mman.h sys/param.h sys/resource.h sys/socket.h sys/stat.h sys/time.h sys/types.h sys/wait.h time.h unistd.h") {
		args = append(args, "-include", header)
	}
	files, err := filepath.Glob("*.c")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		if out, err := exec.CommandContext(t.Context(), compiler, append(args, file)...).CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", file, err, out)
		}
	}
}
