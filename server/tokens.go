package server

import (
	"bytes"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
	"unicode"

	"go.yaml.in/yaml/v3"

	"kioku"
	"kioku/internal/files"
)

// maxTokenFile is the maximum size of a token file in bytes.
const maxTokenFile = 1 << 20

// Tokens are the callers in a token file, which is YAML and readable only by its owner, or which nobody may write, as the
// secrets of containers are mounted:
//
//	tokens:
//	  - name: laptop
//	    sha256: 2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae
//	    agents: [main, work]   # or "*" for all
//	    write: true            # default: false
//	    council: [owner]       # optional: read, submit, owner, member:NAME, worker:NAME, bridge:PLATFORM; then agents may be missing
//	  - name: build
//	    san: build.example.org # a name in the client's certificate instead of a token
//	    agents: [work]
//	    expires: 2027-01-31    # optional: the last day, in UTC, or a time of RFC 3339 from which on it is not valid
//
// The hash is the SHA-256 of the token in hexadecimal. Tokens are long and random, so a plain hash reveals nothing. A change of
// the file takes effect within a second, also for calls under way: a call ends whose token is gone, or has lost the agent or the
// right that the call uses. While the file cannot be used, the tokens before the change stay valid. To revoke all, write
// "tokens: []".
type Tokens struct {
	path string // empty if the tokens come from no file
	log  *slog.Logger

	// mu guards the fields below.
	mu      sync.Mutex
	entries []tokenEntry
	// seen is the file that was read last, good or bad, and checked the time of the last look at it.
	seen    fs.FileInfo
	checked time.Time
}

// tokenEntry is a caller with the hash of its token, or with a name of its certificate.
type tokenEntry struct {
	hash   [sha256.Size]byte
	san    string
	caller caller
	// expires is when the entry ends to be valid; zero means never.
	expires time.Time
}

// ParseTokens returns the callers in a text that is written as a token file. They never change.
func ParseTokens(text string) (*Tokens, error) {
	entries, err := parseTokens([]byte(text))
	if err != nil {
		return nil, fmt.Errorf("tokens: %w", err)
	}
	return &Tokens{entries: entries}, nil
}

// OpenTokens reads a token file. It returns an error if the file is missing, if other users can write it, if they can read a
// file that its owner can write, or if it is not as [Tokens] documents. log receives later errors of the file; nil discards them.
func OpenTokens(path string, log *slog.Logger) (*Tokens, error) {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	t := &Tokens{path: path, log: log, checked: time.Now()}
	var err error
	if t.entries, t.seen, err = readTokens(path); err != nil {
		return nil, fmt.Errorf("token file %s: %w", path, err)
	}
	return t, nil
}

// find returns the caller with a credential that has not expired. It takes the same time for every token, known or not.
func (t *Tokens) find(cred credential) (found caller, ok bool) {
	now := time.Now()
	for _, e := range t.current() {
		if !e.expires.IsZero() && !now.Before(e.expires) {
			continue
		}
		byToken := cred.names == nil && e.san == "" && subtle.ConstantTimeCompare(cred.hash[:], e.hash[:]) == 1
		if byToken || e.san != "" && slices.Contains(cred.names, e.san) {
			found, ok = e.caller, true
		}
	}
	return found, ok
}

// current returns the entries of the file, which it reads again after a change.
func (t *Tokens) current() []tokenEntry {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.path == "" || time.Since(t.checked) < time.Second {
		return t.entries
	}
	t.checked = time.Now()
	info, err := os.Stat(t.path)
	if err == nil && t.seen != nil && files.Unchanged(info, t.seen) {
		return t.entries
	}
	entries, seen, err := readTokens(t.path)
	switch {
	case err == nil:
		t.entries = entries
	case seen != nil || t.seen != nil:
		t.log.Error("keeping the old tokens: the token file cannot be used", "path", t.path, "err", err)
	}
	t.seen = seen
	return t.entries
}

// readTokens reads a token file. The FileInfo is nil only if there is no file.
func readTokens(path string) ([]tokenEntry, fs.FileInfo, error) {
	data, info, err := readRegular(path)
	if err != nil {
		return nil, info, err
	}
	if perm := info.Mode().Perm(); perm&0o077 != 0 && perm&0o222 != 0 {
		return nil, info, fmt.Errorf("must be a file that only its owner can use, or that nobody can write (it has mode %04o); "+
			"run: chmod 600 %s, or 440 for the secret of a container", perm, path)
	}
	entries, err := parseTokens(data)
	return entries, info, err
}

// readRegular reads a regular file without waiting for anything. The FileInfo is nil only if there is no file.
func readRegular(path string) ([]byte, fs.FileInfo, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, nil, err
	}
	if kind := kindOf(info.Mode()); kind != "" {
		return nil, info, fmt.Errorf("is %s, not a regular file", kind)
	}
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, info, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxTokenFile+1))
	return data, info, err
}

// kindOf says what a file is that is not regular, empty for a regular one.
func kindOf(mode fs.FileMode) string {
	switch {
	case mode.IsRegular():
		return ""
	case mode.IsDir():
		return "a folder"
	case mode&fs.ModeNamedPipe != 0:
		return "a named pipe"
	case mode&fs.ModeSocket != 0:
		return "a socket"
	}
	return "a device"
}

// tokenFile is the content of a token file.
type tokenFile struct {
	Tokens []struct {
		Name    string     `yaml:"name"`
		SHA256  string     `yaml:"sha256"`
		SAN     string     `yaml:"san"`
		Agents  agentNames `yaml:"agents"`
		Write   bool       `yaml:"write"`
		Council []string   `yaml:"council"`
		Expires string     `yaml:"expires"`
	} `yaml:"tokens"`
}

// agentNames is a list of agent ids, or a single id.
type agentNames []string

// UnmarshalYAML accepts a single text as a list.
func (a *agentNames) UnmarshalYAML(node *yaml.Node) error {
	if node.Kind == yaml.ScalarNode {
		*a = agentNames{node.Value}
		return nil
	}
	return node.Decode((*[]string)(a))
}

// quotedValue is what errors of YAML quote.
var quotedValue = regexp.MustCompile("`[^`]*`")

func parseTokens(data []byte) ([]tokenEntry, error) {
	if len(data) > maxTokenFile {
		return nil, fmt.Errorf("is larger than %d bytes", maxTokenFile)
	}
	dec := yaml.NewDecoder(bytes.NewReader(data))
	dec.KnownFields(true)
	var file tokenFile
	if err := dec.Decode(&file); err != nil && !errors.Is(err, io.EOF) {
		return nil, errors.New(quotedValue.ReplaceAllString(err.Error(), "a value")) // which may be a token
	}
	if file.Tokens == nil {
		return nil, errors.New(`has no list "tokens"; to let nobody in, write "tokens: []"`)
	}
	var entries []tokenEntry
	for i, t := range file.Tokens {
		entry := tokenEntry{san: t.SAN, caller: caller{name: t.Name, agents: t.Agents, write: t.Write}}
		var err error
		if entry.caller.council, err = parseCouncilRights(t.Council); err == nil {
			err = entry.checkEntry(t.SHA256)
		}
		if err == nil && t.Expires != "" {
			entry.expires, err = ParseExpiry(t.Expires)
		}
		if err != nil {
			return nil, fmt.Errorf("token %d (%q): %w", i+1, t.Name, err)
		}
		if slices.ContainsFunc(entries, entry.clashes) {
			return nil, fmt.Errorf("token %d (%q): name, sha256 or san is there twice", i+1, t.Name)
		}
		entries = append(entries, entry)
	}
	return entries, nil
}

// ParseExpiry returns the time from which on a token is not valid: the end of a day in UTC (2027-01-31), or a time of RFC 3339.
func ParseExpiry(text string) (time.Time, error) {
	if day, err := time.Parse(time.DateOnly, text); err == nil {
		return day.AddDate(0, 0, 1), nil
	}
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return t, errors.New("expires must be a day like 2027-01-31 or a time like 2027-01-31T12:00:00Z")
	}
	return t, nil
}

// clashes reports whether two entries cannot be told apart.
func (e tokenEntry) clashes(other tokenEntry) bool {
	return e.caller.name == other.caller.name || e.san == other.san && (e.san != "" || e.hash == other.hash)
}

// checkEntry checks an entry and sets its hash.
func (e *tokenEntry) checkEntry(hexSum string) error {
	if (hexSum == "") == (e.san == "") {
		return errors.New("one of sha256 and san is required, and not both")
	}
	if e.san == "" {
		sum, err := hex.DecodeString(hexSum)
		if err != nil || len(sum) != sha256.Size {
			// The error does not quote the text: it may be the token itself, by mistake.
			return fmt.Errorf("sha256 must be the %d hexadecimal digits of the token's hash", 2*sha256.Size)
		}
		e.hash = [sha256.Size]byte(sum)
	}
	c := &e.caller
	if c.name == "" {
		return errors.New("name is required")
	}
	if strings.ContainsFunc(c.name, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return fmt.Errorf("the name %q must be on one line, without control characters", c.name)
	}
	if len(c.agents) == 0 && c.council.none() {
		return errors.New(`agents is required: a list of agent ids, or "*" for all`)
	}
	for _, id := range c.agents {
		if id == "*" {
			c.everyone = true
		} else if err := kioku.CheckAgent(id); err != nil {
			return fmt.Errorf("%q: %w", id, err)
		}
	}
	return nil
}
