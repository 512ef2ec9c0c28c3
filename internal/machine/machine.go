// Package machine tells whether the machine that the program runs on has power and processor time to spare.
package machine

import (
	"io/fs"
	"os"
	"path"
	"runtime"
	"strconv"
	"strings"
)

// State is what is known of the machine; zero on a system that does not tell.
type State struct {
	// OnBattery is true if the machine runs on its battery.
	OnBattery bool
	// Busy is true if more programs want a processor than there are processors: the load average of the last minute.
	Busy bool
}

// Here returns the state of this machine.
func Here() State { return Read(os.DirFS("/"), runtime.NumCPU()) }

// Read returns the state that the files of a Linux system tell, of a machine with a number of processors.
func Read(root fs.FS, processors int) State {
	return State{OnBattery: onBattery(root), Busy: load(root) > float64(processors)}
}

// onBattery reports whether a battery of the machine, not of a mouse, is discharging, and no other source has power.
func onBattery(root fs.FS) bool {
	const dir = "sys/class/power_supply"
	supplies, err := fs.ReadDir(root, dir)
	if err != nil {
		return false
	}
	discharging := false
	for _, s := range supplies {
		value := func(name string) string { return readWord(root, path.Join(dir, s.Name(), name)) }
		switch {
		case value("scope") == "Device":
		case value("type") == "Battery":
			discharging = discharging || value("status") == "Discharging"
		case value("online") == "1":
			return false
		}
	}
	return discharging
}

// load returns the load average of the last minute, 0 if it is not known.
func load(root fs.FS) float64 {
	n, err := strconv.ParseFloat(readWord(root, "proc/loadavg"), 64)
	if err != nil {
		return 0
	}
	return n
}

// readWord returns the first word of a file, empty if there is none.
func readWord(root fs.FS, name string) string {
	b, err := fs.ReadFile(root, name)
	if err != nil {
		return ""
	}
	word, _, _ := strings.Cut(strings.TrimSpace(string(b)), " ")
	return word
}
