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

// Machine is what the gates of skills are checked against. The zero value is the machine that this program runs on.
type Machine struct {
	// LookPath finds a program; nil means exec.LookPath.
	LookPath func(name string) (string, error)
	// LookupEnv finds a variable of the environment; nil means os.LookupEnv.
	LookupEnv func(name string) (string, bool)
	// OS is one of Go's names; empty means runtime.GOOS.
	OS string
}

// settled fills in what was left out.
func (m Machine) settled() Machine {
	if m.LookPath == nil {
		m.LookPath = exec.LookPath
	}
	if m.LookupEnv == nil {
		m.LookupEnv = os.LookupEnv
	}
	if m.OS == "" {
		m.OS = runtime.GOOS
	}
	return m
}

// refuses returns why a skill cannot be used here, or nothing.
func (m Machine) refuses(h header) string {
	if len(h.OS) > 0 && !slices.ContainsFunc(h.OS, m.is) {
		return fmt.Sprintf("is for %s, and this is %s", strings.Join(h.OS, ", "), m.OS)
	}
	for _, bin := range h.Requires.Bins {
		if !m.has(bin) {
			return fmt.Sprintf("needs the program %s, which is not in PATH", bin)
		}
	}
	if any := h.Requires.AnyBins; len(any) > 0 && !slices.ContainsFunc(any, m.has) {
		return fmt.Sprintf("needs one of the programs %s, of which none is in PATH", strings.Join(any, ", "))
	}
	for _, name := range h.Requires.Env {
		if value, _ := m.LookupEnv(name); value == "" {
			return fmt.Sprintf("needs the environment variable %s", name)
		}
	}
	return ""
}

// is reports whether a name that people give a system is that of this one.
func (m Machine) is(name string) bool {
	name = strings.ToLower(name)
	switch name {
	case "macos", "mac":
		name = "darwin"
	case "win32":
		name = "windows"
	}
	return name == m.OS
}

// has reports whether a program is in PATH. What is a path itself is no program's name.
func (m Machine) has(bin string) bool {
	if bin == "" || strings.ContainsAny(bin, `/\`) {
		return false
	}
	_, err := m.LookPath(bin)
	return err == nil
}

// state changes whenever the answer of a gate may be another one: with PATH, with what its folders hold, and with the
// variables that skills ask for. A program that is made executable later is not noticed until one of these changes.
func (m Machine) state(all []*skill) string {
	var b strings.Builder
	path, _ := m.LookupEnv("PATH")
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
			value, _ := m.LookupEnv(name)
			fmt.Fprintf(&b, "|%v", value != "")
		}
	}
	return b.String()
}
