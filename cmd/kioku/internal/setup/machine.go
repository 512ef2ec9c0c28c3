package setup

import (
	"os"
	"path/filepath"
	"strings"
)

// Machine is where clients keep their configurations.
type Machine struct {
	// OS is the operating system as runtime.GOOS names it.
	OS string
	// Env is the environment, as os.Environ gives it.
	Env []string
	// Dir is the absolute path of the project.
	Dir string
}

// env returns a variable, empty if it is not set.
func (m *Machine) env(name string) string {
	for i := len(m.Env) - 1; i >= 0; i-- {
		if value, ok := strings.CutPrefix(m.Env[i], name+"="); ok {
			return value
		}
	}
	return ""
}

// home returns a path below the user's home, empty without a home.
func (m *Machine) home(parts ...string) string {
	home := m.env("HOME")
	if m.OS == "windows" {
		home = m.env("USERPROFILE")
	}
	return below(home, parts...)
}

// project returns a path below the folder of the project.
func (m *Machine) project(parts ...string) string { return below(m.Dir, parts...) }

// under returns a path below the folder that a variable names, or below the home if the variable is not set.
func (m *Machine) under(variable string, parts []string, home ...string) string {
	if dir := m.env(variable); dir != "" {
		return below(dir, parts...)
	}
	return m.home(append(home, parts...)...)
}

// applicationData returns a path below the folder in which desktop programs keep their settings.
func (m *Machine) applicationData(parts ...string) string {
	switch m.OS {
	case "darwin":
		return m.home(append([]string{"Library", "Application Support"}, parts...)...)
	case "windows":
		return m.under("APPDATA", parts, "AppData", "Roaming")
	}
	return m.under("XDG_CONFIG_HOME", parts, ".config")
}

// LookPath returns the absolute path of a program, empty if the PATH has none.
func (m *Machine) LookPath(program string) string {
	for _, dir := range filepath.SplitList(m.env("PATH")) {
		path := filepath.Join(dir, program)
		if info, err := os.Stat(path); filepath.IsAbs(dir) && err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return path
		}
	}
	return ""
}

// below returns a path below a folder, empty if the folder is empty.
func below(dir string, parts ...string) string {
	if dir == "" {
		return ""
	}
	return filepath.Join(append([]string{dir}, parts...)...)
}

func exists(path string) bool {
	if path == "" {
		return false
	}
	_, err := os.Stat(path)
	return err == nil
}
