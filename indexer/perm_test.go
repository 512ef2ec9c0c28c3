package indexer_test

import (
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"testing"
)

// mortal runs the calling test in a process that file permissions apply to, and reports whether this is that process.
// The superuser reads everything, so for it the test binary runs once more without that power.
func mortal(t *testing.T) bool {
	t.Helper()
	if os.Geteuid() != 0 || os.Getenv("INDEXER_TEST_MORTAL") != "" {
		return true
	}
	cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
	cmd.Env = append(os.Environ(), "INDEXER_TEST_MORTAL=1")
	out := make(chan string)
	go func() {
		runtime.LockOSThread() // and never unlocked: the thread ends with what it lost
		const dropFromBounding, dacOverride, dacReadSearch = 24, 1, 2
		for _, capability := range []uintptr{dacOverride, dacReadSearch} {
			if _, _, errno := syscall.RawSyscall(syscall.SYS_PRCTL, dropFromBounding, capability, 0); errno != 0 {
				out <- "drop a capability: " + errno.Error()
				return
			}
		}
		text, err := cmd.CombinedOutput()
		if err != nil {
			out <- err.Error() + "\n" + string(text)
			return
		}
		out <- ""
	}()
	if text := <-out; text != "" {
		t.Error(text)
	}
	return false
}

// Hazard B18: what may not be read is named, the rest is indexed, and it heals when it becomes readable.
func TestSyncListsUnreadableFilesAndFolders(t *testing.T) {
	t.Parallel()
	if !mortal(t) {
		return
	}
	f := setup(t, nil)
	f.write("memory/a.md", "a")
	f.write("memory/closed/b.md", "b")
	f.write("memory/secret.md", "c")
	f.sync()
	f.must(os.Chmod(f.path("memory/closed"), 0))
	f.must(os.Chmod(f.path("memory/secret.md"), 0))
	f.write("memory/secret.md.new", "c2")
	f.must(os.Chmod(f.path("memory/secret.md.new"), 0))
	f.must(os.Rename(f.path("memory/secret.md.new"), f.path("memory/secret.md")))
	f.sync()
	f.holds("memory/a.md", "memory/closed/b.md")
	f.skips("memory/closed", "permission denied")
	f.skips("memory/secret.md", "permission denied")
	f.must(os.Chmod(f.path("memory/closed"), 0o755))
	f.must(os.Chmod(f.path("memory/secret.md"), 0o644))
	f.sync()
	f.holds("memory/a.md", "memory/closed/b.md", "memory/secret.md")
	if _, skipped := f.index.list(); len(skipped) != 0 {
		t.Errorf("skipped: %q", skipped)
	}
}

func TestSyncReportsUnreadableWorkspace(t *testing.T) {
	t.Parallel()
	if !mortal(t) {
		return
	}
	f := setup(t, nil)
	f.write("memory/a.md", "a")
	f.sync()
	f.must(os.Chmod(f.dir, 0))
	defer os.Chmod(f.dir, 0o755)
	if rep := f.sync(); len(rep.Unavailable) != 1 || rep.Unavailable[0] != f.dir {
		t.Errorf("unavailable: %q", rep.Unavailable)
	}
	f.holds("memory/a.md")
}

func TestRebuildKeepsUnreadableFiles(t *testing.T) {
	t.Parallel()
	if !mortal(t) {
		return
	}
	f := setup(t, nil)
	f.write("memory/a.md", "a")
	f.write("memory/closed/b.md", "b")
	f.sync()
	f.must(os.Chmod(f.path("memory/closed"), 0))
	defer os.Chmod(f.path("memory/closed"), 0o755)
	if _, err := f.x.Rebuild(t.Context(), nil); err == nil {
		t.Error("rebuilt without the files of an unreadable folder")
	}
	f.holds("memory/a.md", "memory/closed/b.md")
}
