package skills

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// refusal returns why a skill cannot be used on this machine, or nothing.
func (h *header) refusal() string {
	if len(h.OS) > 0 && !slices.ContainsFunc(h.OS, isThisOS) {
		return fmt.Sprintf("is for %s, and this is %s", strings.Join(h.OS, ", "), runtime.GOOS)
	}
	for _, bin := range h.Requires.Bins {
		if !inPath(bin) {
			return fmt.Sprintf("needs the program %s, which is not in PATH", bin)
		}
	}
	if any := h.Requires.AnyBins; len(any) > 0 && !slices.ContainsFunc(any, inPath) {
		return fmt.Sprintf("needs one of the programs %s, of which none is in PATH", strings.Join(any, ", "))
	}
	for _, name := range h.Requires.Env {
		if os.Getenv(name) == "" {
			return fmt.Sprintf("needs the environment variable %s", name)
		}
	}
	return ""
}

// isThisOS reports whether a name that people give an operating system means this one.
func isThisOS(name string) bool {
	name = strings.ToLower(name)
	switch name {
	case "macos", "mac":
		name = "darwin"
	case "win32":
		name = "windows"
	}
	return name == runtime.GOOS
}

// inPath reports whether a program is in PATH. A path is not the name of a program.
func inPath(bin string) bool {
	if bin == "" || strings.ContainsAny(bin, `/\`) {
		return false
	}
	_, err := exec.LookPath(bin)
	return err == nil
}

// gateState changes whenever a skill may be refused that was not, or the other way round: with PATH, the times of its folders,
// and the variables that skills ask for. A program that is made executable later is not noticed until one of these changes.
func gateState(all []*skill) string {
	var b strings.Builder
	path := os.Getenv("PATH")
	b.WriteString(path)
	if slices.ContainsFunc(all, func(s *skill) bool { return len(s.Requires.Bins)+len(s.Requires.AnyBins) > 0 }) {
		for _, dir := range filepath.SplitList(path) {
			if info, err := os.Stat(dir); err == nil {
				fmt.Fprintf(&b, "|%d", info.ModTime().UnixNano())
			}
		}
	}
	for _, s := range all {
		for _, name := range s.Requires.Env {
			fmt.Fprintf(&b, "|%v", os.Getenv(name) != "")
		}
	}
	return b.String()
}
