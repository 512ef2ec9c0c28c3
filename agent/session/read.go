package session

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
)

// Bad is a line of a transcript that could not be used.
type Bad struct {
	// Line counts from 1.
	Line int
	Err  error
}

// String returns "line 3: ...".
func (b Bad) String() string { return fmt.Sprintf("line %d: %v", b.Line, b.Err) }

// Report tells what was found amiss in a transcript.
type Report struct {
	// Bad are lines that were skipped. They stay in the file.
	Bad []Bad
	// Torn is how many bytes a last line that was cut off has, 0 if there is none. No append of it was reported as done.
	Torn int
	// TornFile is the name of the file, beside the transcript, to which Open has moved these bytes; empty without any.
	TornFile string
}

// Line is an entry and where it stands.
type Line struct {
	Entry
	// Number counts lines from 1, and Bytes is the line's length with its end, which the last line may not have yet.
	Number int
	Bytes  int
}

// Read calls each for all entries of a transcript in their order. A line that is no entry, and one for which each returns
// an error, is skipped and reported as bad. A last line without its end is an entry if it reads as one, and otherwise
// torn. The error is that of r.
func Read(r io.Reader, each func(Line) error) (Report, error) {
	var report Report
	in := bufio.NewReaderSize(r, 64<<10)
	for number := 1; ; number++ {
		line, err := in.ReadBytes('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return report, err
		}
		whole := err == nil
		if bad := readLine(line, number, each); bad != nil && whole {
			report.Bad = append(report.Bad, Bad{number, bad})
		} else if bad != nil {
			report.Torn = len(line)
		}
		if !whole {
			return report, nil
		}
	}
}

// readLine hands a line on, unless it is blank.
func readLine(line []byte, number int, each func(Line) error) error {
	if len(bytes.TrimSpace(line)) == 0 {
		return nil
	}
	e, err := parse(line)
	if err != nil {
		return err
	}
	return each(Line{Entry: e, Number: number, Bytes: len(bytes.TrimSuffix(line, []byte("\n"))) + 1})
}
