package indexer

import (
	"kioku/internal/text"
	"path"
	"strings"

	"kioku/internal/files"
)

// DateOf returns the day (YYYY-MM-DD) of a path; "" if it has none. It is the first day in the file name in a form of [text.FindDay], or
// the day that the name is with the folders above it: 2026/02/04.md, 2026/02-February/04 heron.md, 2026-02/04.md; or that of
// its folder if that is only a day: 2026-02-04/heron.md, 2026/02/04/heron.md.
func DateOf(p string) string {
	day, _, _ := dayOfPath(p, text.AnyOrder)
	return day
}

// dayOfPath returns DateOf of a path if days such as 05-06-2026 have this order, and the offsets of the day in [baseOf]; both are 0 if only
// folders have the day.
func dayOfPath(p string, order text.DayOrder) (day string, start, end int) {
	base := baseOf(p)
	if day, start, end = text.FindDayIn(base, order); day != "" {
		return day, start, end
	}
	folders := strings.Split(path.Dir(p), "/")
	if day, end = dayBelow(folders, base); day != "" {
		return day, 0, end
	}
	folders, folder := folders[:len(folders)-1], folders[len(folders)-1]
	if day, start, end = text.FindDay(folder); day == "" || start > 0 {
		day, end = dayBelow(folders, folder)
	}
	if day == "" || end < len(folder) {
		return "", 0, 0
	}
	return day, 0, 0
}

var (
	yearFolder = text.NewRegexp(`^\d{4}$`)
	// monthFolder is 02, 02-February, 2026-02, 2026-02-February or February.
	monthFolder = text.NewRegexp(`^(?:(\d{4})[-_. ])?(?:(\d\d?)(?:[-_. ]+\pL.*)?|(\pL+))$`)
	// dayName is 04, 4 or 04 with words behind it.
	dayName = text.NewRegexp(`^(\d\d?)$|^(\d\d)[-_. ]+\pL`)
)

// dayBelow returns the day that a name is in the folders of a year and a month, and its length in the name.
func dayBelow(folders []string, name string) (day string, length int) {
	d := dayName.FindStringSubmatch(name)
	if d == nil || len(folders) == 0 {
		return "", 0
	}
	m := monthFolder.FindStringSubmatch(folders[len(folders)-1])
	if m == nil {
		return "", 0
	}
	year, number := m[1], d[1]+d[2]
	if year == "" && len(folders) > 1 && yearFolder.MatchString(folders[len(folders)-2]) {
		year = folders[len(folders)-2]
	}
	written := year + "-" + m[2] + "-" + number
	if m[3] != "" {
		written = number + " " + m[3] + " " + year
	}
	day, start, end := text.FindDay(written)
	if start > 0 || end < len(written) {
		return "", 0
	}
	return day, len(number)
}

// needsOrder reports whether the name of a file is a day in one of two orders, such as 05-06-2026.
func needsOrder(p string) bool {
	base := baseOf(p)
	day, _, _ := text.FindDay(base)
	dayFirst, _, _ := text.FindDayIn(base, text.DayFirst)
	return day == "" && dayFirst != ""
}

// dayOrder returns the order of day and month in the name of a file, if the name needs one and those of the files and folders beside it show only one. They are
// read when the file is indexed. Each full sync reads such a file again, so it notices that the names beside it have changed.
func (f *foundFile) dayOrder() text.DayOrder {
	if !needsOrder(f.path) {
		return text.AnyOrder
	}
	dir, err := files.OpenFolder(f.root, path.Dir(f.rel))
	if err != nil {
		return text.AnyOrder
	}
	defer dir.Close()
	entries, err := readDir(dir)
	if err != nil {
		return text.AnyOrder
	}
	order := text.AnyOrder
	for _, entry := range entries {
		shown := text.OrderOf(baseOf(entry.Name()))
		switch {
		case shown == text.AnyOrder:
		case order != text.AnyOrder && order != shown:
			return text.AnyOrder
		default:
			order = shown
		}
	}
	return order
}
