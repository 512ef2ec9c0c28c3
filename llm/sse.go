package llm

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// maxLine bounds one line of a stream.
const maxLine = 16 << 20

// errDone stops the reading of a stream that has said all there is to say.
var errDone = errors.New("done")

// readSSE calls data with the data of each server-sent event of r, without its line ends, and stops at its first error,
// which it returns. Comments, names of events and events without data are passed over. An event that r breaks off in is
// told too: whether it is complete shows in its JSON.
func readSSE(r io.Reader, data func([]byte) error) error {
	var event []byte
	err := readLines(r, func(line []byte) error {
		if len(line) == 0 {
			whole := event
			event = nil
			return tell(whole, data)
		}
		name, value, _ := bytes.Cut(line, []byte(":"))
		if string(name) == "data" {
			if event != nil {
				event = append(event, '\n')
			}
			event = append(event, bytes.TrimPrefix(value, []byte(" "))...)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return tell(event, data)
}

func tell(event []byte, data func([]byte) error) error {
	if len(event) == 0 {
		return nil
	}
	return data(event)
}

// readNDJSON calls value with each line of r that is not blank, and stops at its first error, which it returns.
func readNDJSON(r io.Reader, value func([]byte) error) error {
	return readLines(r, func(line []byte) error { return tell(bytes.TrimSpace(line), value) })
}

// readLines calls line with each line of r, without its end, be that LF or CRLF.
func readLines(r io.Reader, line func([]byte) error) error {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxLine)
	for lines.Scan() {
		if err := line(lines.Bytes()); err != nil {
			return err
		}
	}
	return lines.Err()
}
