package flush

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"kioku/internal/text"
	"kioku/memory"
)

const (
	// maxNameBytes bounds the names of sessions and holders.
	maxNameBytes = 256
	// maxReasonBytes bounds the reason of an abort that is kept.
	maxReasonBytes = 1 << 10
)

// record is what the disk holds of a flush, beside its spool and journal.
type record struct {
	Session string    `json:"session"`
	Cycle   int       `json:"cycle"`
	Begun   time.Time `json:"begun"`
	// Holder is empty after an abort and a release.
	Holder  string    `json:"holder,omitempty"`
	Expires time.Time `json:"expires,omitzero"`
	// Failed attempts, and the Reason of the last one.
	Failed int    `json:"failed,omitempty"`
	Reason string `json:"reason,omitempty"`
	// Aborted until it is begun again.
	Aborted bool `json:"aborted,omitempty"`
	Done    bool `json:"done,omitempty"`
	// Messages in the spool.
	Messages int `json:"messages"`
	// Through is that of the Job.
	Through string `json:"through,omitempty"`
}

func (r record) lease(id string, resumed bool, spool []json.RawMessage) Lease {
	return Lease{
		ID: id, Session: r.Session, Cycle: r.Cycle, Holder: r.Holder, Expires: r.Expires, Attempt: r.Failed + 1, Through: r.Through,
		Resumed: resumed, Done: r.Done, Spool: spool, NoteKey: fmt.Sprintf("flush-%s-%d-", id, r.Failed+1),
	}
}

// idForm is the form of a flush's id: the hash of the session, which may have any name, and the cycle. It is safe as the
// name of a file.
var idForm = regexp.MustCompile(`^[0-9a-f]{32}-[0-9]{1,19}$`)

func flushID(session string, cycle int) string {
	return sessionHash(session) + "-" + strconv.Itoa(cycle)
}

func sessionHash(session string) string {
	sum := sha256.Sum256([]byte(session))
	return hex.EncodeToString(sum[:16])
}

// checkFlush returns an *memory.InputError for what cannot name a flush.
func checkFlush(session string, cycle int, holder string) error {
	for _, name := range []struct{ field, value string }{{"session", session}, {"holder", holder}} {
		problem := ""
		switch {
		case name.value == "":
			problem = "must not be empty"
		case len(name.value) > maxNameBytes:
			problem = fmt.Sprintf("has %d bytes; the most is %d", len(name.value), maxNameBytes)
		case !utf8.ValidString(name.value):
			problem = "must be valid UTF-8"
		}
		if problem != "" {
			return &memory.InputError{Field: name.field, Problem: problem}
		}
	}
	if cycle < 0 {
		return &memory.InputError{Field: "cycle", Problem: fmt.Sprintf("is %d; it counts compactions, from 0", cycle)}
	}
	return nil
}

// spoolLines returns messages as JSON lines.
func spoolLines(spool []json.RawMessage) ([]byte, error) {
	var lines bytes.Buffer
	for i, message := range spool {
		if err := json.Compact(&lines, message); err != nil {
			return nil, &memory.InputError{Field: "messages", Problem: fmt.Sprintf("number %d is no JSON: %v", i+1, err)}
		}
		lines.WriteByte('\n')
	}
	return lines.Bytes(), nil
}

// parseSpool is the inverse of spoolLines. It returns an error if there are not as many whole messages as there were.
func parseSpool(lines []byte, messages int) ([]json.RawMessage, error) {
	var spool []json.RawMessage
	for line := range bytes.Lines(lines) {
		whole, ended := bytes.CutSuffix(line, []byte("\n"))
		if !ended || !json.Valid(whole) {
			return nil, fmt.Errorf("line %d is damaged", len(spool)+1)
		}
		spool = append(spool, whole)
	}
	if len(spool) != messages {
		return nil, fmt.Errorf("it has %d of %d messages", len(spool), messages)
	}
	return spool, nil
}

// clip shortens a reason to what is kept of it.
func clip(reason string) string {
	if len(reason) > maxReasonBytes {
		reason = text.HeadBytes(reason, maxReasonBytes) + "…"
	}
	return strings.ToValidUTF8(reason, "")
}
