package llm

import (
	"bufio"
	"bytes"
	"io"
)

// maxLine bounds one line of a stream in bytes.
const maxLine = 16 << 20

// readSSE calls handle with the data of each server-sent event of r, without its line ends, and stops at the first error of
// handle, which it returns. It skips comments, names of events and events without data. The last event may be incomplete:
// its JSON shows whether it is.
func readSSE(r io.Reader, handle func([]byte) error) error {
	var event []byte
	endEvent := func() error {
		data := event
		event = nil
		if len(data) == 0 {
			return nil
		}
		return handle(data)
	}
	err := readLines(r, func(line []byte) error {
		if len(line) == 0 {
			return endEvent()
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
	return endEvent()
}

// readNDJSON calls handle with each line of r that is not blank, and stops at its first error, which it returns.
func readNDJSON(r io.Reader, handle func([]byte) error) error {
	return readLines(r, func(line []byte) error {
		if len(bytes.TrimSpace(line)) == 0 {
			return nil
		}
		return handle(line)
	})
}

// readLines calls handle with each line of r, without its LF or CRLF.
func readLines(r io.Reader, handle func([]byte) error) error {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxLine)
	for lines.Scan() {
		if err := handle(lines.Bytes()); err != nil {
			return err
		}
	}
	return lines.Err()
}
