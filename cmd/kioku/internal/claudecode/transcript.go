package claudecode

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"kioku/agent/flush"
	"kioku/internal/safefile"
	"kioku/llm"
)

// maxLine is the maximum length of a line of a transcript that is read; longer ones, such as those with images, are left out.
const maxLine = 1 << 20

// maxMessages is the maximum number of messages that Transcript returns: the latest.
const maxMessages = 20_000

// line is a line of a transcript.
type line struct {
	Type      string `json:"type"`
	ID        string `json:"uuid"`
	Sidechain bool   `json:"isSidechain"`
	Meta      bool   `json:"isMeta"`
	Summary   bool   `json:"isCompactSummary"`
	Message   struct {
		Role    string          `json:"role"`
		Content json.RawMessage `json:"content"`
	} `json:"message"`
}

// Transcript returns what the user and the model said in a session, in its order. Tool calls and their results, subagents, and
// texts that Claude Code added are left out, and so are lines that are not understood.
func Transcript(path string) ([]flush.Message, error) {
	f, err := openRegular(path)
	if err != nil {
		return nil, fmt.Errorf("read the transcript: %w", err)
	}
	defer f.Close()
	var said []flush.Message
	r := bufio.NewReaderSize(f, 64<<10)
	for {
		text, err := readLine(r)
		if m, ok := message(text); ok {
			said = append(said, m)
		}
		if errors.Is(err, io.EOF) {
			return said[max(0, len(said)-maxMessages):], nil
		}
		if err != nil {
			return nil, fmt.Errorf("read the transcript: %w", err)
		}
	}
}

// openRegular opens a file, and nothing else: a device or a pipe may have no end.
func openRegular(path string) (*os.File, error) {
	root, err := os.OpenRoot(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	defer root.Close()
	f, _, err := safefile.OpenRegular(root, filepath.Base(path))
	var skipped *safefile.SkipError
	if errors.As(err, &skipped) {
		return nil, fmt.Errorf("%s is not a regular file: %w", path, err)
	}
	return f, err
}

// readLine returns the next line, empty if it is too long. The error is io.EOF on the last one.
func readLine(r *bufio.Reader) ([]byte, error) {
	var whole []byte
	for long := false; ; {
		part, err := r.ReadSlice('\n')
		if long = long || len(whole)+len(part) > maxLine; long {
			whole = nil
		} else {
			whole = append(whole, part...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return whole, err
		}
	}
}

// message returns what somebody said in a line, false if nobody did.
func message(text []byte) (flush.Message, bool) {
	var l line
	if json.Unmarshal(text, &l) != nil || l.ID == "" || l.Sidechain || l.Meta || l.Summary {
		return flush.Message{}, false
	}
	role := llm.Role(l.Message.Role)
	said := spoken(l.Message.Content)
	if l.Type != l.Message.Role || role != llm.RoleUser && role != llm.RoleAssistant || strings.TrimSpace(said) == "" {
		return flush.Message{}, false
	}
	return flush.Message{ID: l.ID, Message: llm.Message{Role: role, Text: said}}, true
}

// spoken returns the text of a content, which is a text or a list of blocks.
func spoken(content json.RawMessage) string {
	var whole string
	if json.Unmarshal(content, &whole) == nil {
		return whole
	}
	var blocks []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	_ = json.Unmarshal(content, &blocks) // what is not understood is left out
	var texts []string
	for _, b := range blocks {
		if b.Type == "text" {
			texts = append(texts, b.Text)
		}
	}
	return strings.Join(texts, "\n\n")
}
