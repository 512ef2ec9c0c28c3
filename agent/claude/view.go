package claude

import (
	"context"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"kioku/agent/tools"
)

const (
	// maxViewBytes bounds what a view of a file shows at once.
	maxViewBytes = 64 << 10
	// maxEntries bounds what a view of a folder lists.
	maxEntries = 1000
	// listedLevels of folders are listed.
	listedLevels = 2
)

// view shows a folder or the lines of a file.
func (f *folder) view(ctx context.Context, rel string, lines []tools.Whole) (string, error) {
	info, err := f.stat(rel)
	switch {
	case err != nil:
		return "", err
	case info == nil && rel != ".":
		return "", errMissing(rel)
	case (info == nil || info.IsDir()) && len(lines) > 0:
		return "", refuse("view_range", "%s is a folder; only files have lines", shown(rel))
	case info == nil || info.IsDir():
		return f.viewFolder(ctx, rel)
	}
	text, _, err := f.readText(rel)
	if err != nil {
		return "", err
	}
	return viewLines(rel, text, lines)
}

// viewFolder lists a folder in the form that Claude knows: size, tab, path. The size of a folder is that of all files in it.
func (f *folder) viewFolder(ctx context.Context, rel string) (string, error) {
	listed, sizes := []string{rel}, map[string]int64{}
	walk := func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case name == rel:
			return nil
		case nameProblem(d.Name()) != "" && d.IsDir():
			return fs.SkipDir
		case nameProblem(d.Name()) != "", !d.IsDir() && !d.Type().IsRegular():
			return nil
		}
		if strings.Count(strings.TrimPrefix(name, rel+"/"), "/") < listedLevels {
			listed = append(listed, name)
		}
		if info, err := d.Info(); err == nil && !d.IsDir() {
			for up := name; ; up = path.Dir(up) {
				sizes[up] += info.Size()
				if up == rel {
					break
				}
			}
		}
		return ctx.Err()
	}
	if f.root != nil {
		if err := fs.WalkDir(f.root.FS(), rel, walk); err != nil {
			return "", err
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "What is in %s, %d levels deep, without hidden files (size, path):\n", shown(rel), listedLevels)
	for _, name := range listed[:min(len(listed), maxEntries)] {
		fmt.Fprintf(&b, "%s\t%s\n", sizeText(sizes[name]), shown(name))
	}
	if more := len(listed) - maxEntries; more > 0 {
		fmt.Fprintf(&b, "and %d more; view one of the folders\n", more)
	}
	if len(listed) == 1 {
		b.WriteString("It is empty.\n")
	}
	return b.String(), nil
}

// sizeText is a size as "512", "1.5K" or "2.0M".
func sizeText(n int64) string {
	switch {
	case n < 1<<10:
		return fmt.Sprint(n)
	case n < 1<<20:
		return fmt.Sprintf("%.1fK", float64(n)/(1<<10))
	}
	return fmt.Sprintf("%.1fM", float64(n)/(1<<20))
}

// viewLines shows lines of a text with their numbers, all if none are asked for.
func viewLines(rel, text string, lines []tools.Whole) (string, error) {
	all := splitLines(text)
	if len(all) == 0 {
		return shown(rel) + " is empty.", nil
	}
	first, last := 1, len(all)
	if len(lines) > 0 {
		if len(lines) != 2 {
			return "", refuse("view_range", "must be two line numbers, such as [1, 20]")
		}
		first, last = int(lines[0]), int(lines[1])
		if last == -1 {
			last = len(all)
		}
	}
	if first < 1 || first > len(all) || last < first {
		return "", refuse("view_range", "[%d, %d] is not in the file, which has the lines 1 to %d", first, last, len(all))
	}
	body, next := numbered(all, first, min(last, len(all)), maxViewBytes)
	said := fmt.Sprintf("Lines %d to %d of %d in %s:\n%s", first, next-1, len(all), shown(rel), body)
	if next <= min(last, len(all)) {
		said += fmt.Sprintf("\nThat is as much as a view shows; go on with view_range [%d, %d].", next, last)
	}
	return said, nil
}

// numbered returns lines with their numbers, of which at least one is whole, and the line to go on from.
func numbered(all []string, first, last, limit int) (string, int) {
	var b strings.Builder
	for n := first; n <= last; n++ {
		line := fmt.Sprintf("%6d\t%s", n, strings.TrimSuffix(all[n-1], "\r"))
		if n > first {
			if b.Len()+len(line) > limit {
				return b.String(), n
			}
			b.WriteByte('\n')
		}
		b.WriteString(line)
	}
	return b.String(), last + 1
}

// splitLines returns the lines of a text without their ends; a text that ends a line has none behind it.
func splitLines(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n")
}
