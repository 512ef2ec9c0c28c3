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
	// maxNameBytes is the maximum length of the name of a session or a holder.
	maxNameBytes = 256
	// maxReasonBytes is the length to which the reason of an abort is cut.
	maxReasonBytes = 1 << 10
)

// Record is the state of a flush. The ledger keeps it in a file of its own, beside the messages and the journal.
type Record struct {
	// Session is the conversation. Session and Cycle identify the flush in a ledger.
	Session string `json:"session"`
	// Cycle is the number of compactions before the flush.
	Cycle int `json:"cycle"`
	// Begun is the time at which the flush was begun first.
	Begun time.Time `json:"begun"`
	// Holder has the lease until Expires; empty after an abort or a release.
	Holder string `json:"holder,omitempty"`
	// Expires is the time at which the lease expires; zero if nobody has it.
	Expires time.Time `json:"expires,omitzero"`
	// Failed is the number of failed attempts.
	Failed int `json:"failed,omitempty"`
	// Reason says why the last attempt failed; empty if none did.
	Reason string `json:"reason,omitempty"`
	// Aborted reports that the last attempt failed and no other was begun since.
	Aborted bool `json:"aborted,omitempty"`
	// Done reports that the flush has succeeded.
	Done bool `json:"done,omitempty"`
	// Messages is the number of messages in the spool.
	Messages int `json:"messages"`
	// Through is Job.Through of the job that began the flush, empty if it had none.
	Through string `json:"through,omitempty"`
}

func (r Record) lease(id string, resumed bool, spool []json.RawMessage) Lease {
	return Lease{Record: r, ID: id, Resumed: resumed, Spool: spool, NoteKey: fmt.Sprintf("flush-%s-%d-", id, r.Failed+1)}
}

// idForm matches the id of a flush: the hash of the session's name, which may have any form, and the cycle. An id is safe
// as a file name.
var idForm = regexp.MustCompile(`^[0-9a-f]{32}-[0-9]{1,19}$`)

func flushID(session string, cycle int) string {
	return sessionHash(session) + "-" + strconv.Itoa(cycle)
}

func sessionHash(session string) string {
	sum := sha256.Sum256([]byte(session))
	return hex.EncodeToString(sum[:16])
}

// checkFlush returns an *memory.InputError if a session, cycle or holder is invalid.
func checkFlush(session string, cycle int, holder string) error {
	if err := checkName("session", session); err != nil {
		return err
	}
	if err := checkName("holder", holder); err != nil {
		return err
	}
	if cycle < 0 {
		return &memory.InputError{Field: "cycle", Problem: fmt.Sprintf("is %d; it counts compactions, from 0", cycle)}
	}
	return nil
}

func checkName(field, name string) error {
	switch {
	case name == "":
		return &memory.InputError{Field: field, Problem: "must not be empty"}
	case len(name) > maxNameBytes:
		return &memory.InputError{Field: field, Problem: fmt.Sprintf("has %d bytes; the most is %d", len(name), maxNameBytes)}
	case !utf8.ValidString(name):
		return &memory.InputError{Field: field, Problem: "must be valid UTF-8"}
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

// parseSpool is the inverse of spoolLines. It returns an error unless there are exactly n whole messages.
func parseSpool(lines []byte, n int) ([]json.RawMessage, error) {
	var spool []json.RawMessage
	for line := range bytes.Lines(lines) {
		message, whole := bytes.CutSuffix(line, []byte("\n"))
		if !whole || !json.Valid(message) {
			return nil, fmt.Errorf("line %d is damaged", len(spool)+1)
		}
		spool = append(spool, message)
	}
	if len(spool) != n {
		return nil, fmt.Errorf("it has %d of %d messages", len(spool), n)
	}
	return spool, nil
}

// cutReason returns the part of a reason that is kept.
func cutReason(reason string) string {
	if len(reason) > maxReasonBytes {
		reason = text.HeadBytes(reason, maxReasonBytes) + "…"
	}
	return strings.ToValidUTF8(reason, "")
}
