package transcripts

import (
	"bytes"
	"time"

	"kioku/llm"
)

// Reader reads the lines of one transcript in their order. A conversation may go on in another folder than that in which it began;
// a Reader leaves out what was said in folders that do not count.
type Reader struct {
	program Program
	// counts reports whether what is said in a folder counts.
	counts func(dir string) bool
	// dir is the folder that the latest line told; empty before the first.
	dir  string
	left LeftOut
}

// NewReader returns a Reader for one transcript, in which what is said in a folder counts if counts reports so. What is said
// before a line tells the folder counts.
func (p Program) NewReader(counts func(dir string) bool) *Reader {
	return &Reader{program: p, counts: counts, left: LeftOut{Lines: map[string]int{}}}
}

// Next returns what somebody said on the next line; its Text is empty if nobody did, or in a folder that does not count.
func (r *Reader) Next(line []byte) Said {
	said, problem := r.program.Line(line)
	if said.Dir != "" {
		r.dir = said.Dir
	}
	if problem != "" && bytes.HasSuffix(line, []byte("\n")) {
		r.left.Lines[problem]++
	}
	if said.Text == "" || r.dir != "" && !r.counts(r.dir) {
		return Said{Dir: said.Dir}
	}
	r.left.Secrets += said.Secrets
	return said
}

// Spoken returns what a person said or was told on the next line, "User: ..." or "Assistant: ...", and when. The text is empty for
// all other lines.
func (r *Reader) Spoken(line []byte) (text string, at time.Time) {
	said := r.Next(line)
	switch said.Role {
	case llm.RoleUser:
		return "User: " + said.Text, said.At
	case llm.RoleAssistant:
		return "Assistant: " + said.Text, said.At
	}
	return "", time.Time{}
}

// LeftOut returns what was left out so far. A last line without its end is still being written, and not counted.
func (r *Reader) LeftOut() LeftOut { return r.left }
