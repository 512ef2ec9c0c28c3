package testkit

import (
	"os"
	"os/exec"
	"testing"
)

// childEnv names the test for which a process was started.
const childEnv = "KIOKU_TEST_CHILD"

// InChild runs the calling test, which must not be a subtest, again in a process of its own, so that a crash fails only this
// test. It returns true in that process.
func InChild(t *testing.T) bool {
	t.Helper()
	if os.Getenv(childEnv) == t.Name() {
		return true
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
	cmd.Env = append(os.Environ(), childEnv+"="+t.Name())
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
	return false
}
