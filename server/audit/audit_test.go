package audit_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc/codes"

	"kioku/server"
	"kioku/server/audit"
)

// open opens a log and returns it with its path and what the service logs.
func open(t *testing.T, opt audit.Options) (*audit.Log, string, *safeBuffer) {
	t.Helper()
	if opt.File == "" {
		opt.File = filepath.Join(t.TempDir(), "log", "audit.jsonl")
	}
	log := &safeBuffer{}
	opt.Log = slog.New(slog.NewTextHandler(log, nil))
	l, err := audit.Open(opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l, opt.File, log
}

// safeBuffer is a buffer that goroutines write to.
type safeBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *safeBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *safeBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// call is a call whose outcome is known.
func call(i int) server.CallRecord {
	return server.CallRecord{
		Start: time.Unix(1_800_000_000, 0), Took: 1500 * time.Microsecond, RequestID: fmt.Sprint("r", i), Method: "/kioku.v1.MemoryService/MemoryAppend",
		Caller: "laptop", Credential: "token", From: "10.0.0.7:5555", Agent: "ann", Agents: []string{"ann"}, Write: true, Code: codes.OK,
	}
}

// lines returns the records of a file.
func lines(t *testing.T, path string) []audit.Record {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var out []audit.Record
	for line := range strings.Lines(string(data)) {
		var r audit.Record
		if err := json.Unmarshal([]byte(line), &r); err != nil || !strings.HasSuffix(line, "\n") {
			t.Fatalf("%s: line %q: %v", path, line, err)
		}
		out = append(out, r)
	}
	return out
}

// eventually waits until a condition holds.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for range 12_000 {
		if holds() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("after 2 minutes not: %s", what)
}

// An audit log of who read or wrote which agent: a line says when, who, from where, what, for which agent, to read or write, and
// with which outcome. Only the owner of the file may read it, whatever the umask.
func TestLogSaysWhoReadOrWroteWhichAgent(t *testing.T) {
	l, path, _ := open(t, audit.Options{})
	l.RecordCall(call(1))
	l.RecordCall(server.CallRecord{Method: "/grpc.health.v1.Health/Check"})
	denied := call(2)
	denied.Code, denied.Agents, denied.Write = codes.NotFound, nil, false
	l.RecordCall(denied)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	want := []audit.Record{
		{Time: time.Unix(1_800_000_000, 0).UTC(), Request: "r1", Caller: "laptop", Credential: "token", From: "10.0.0.7:5555",
			Method: "kioku.v1.MemoryService/MemoryAppend", Agent: "ann", Reached: []string{"ann"}, Access: "write", Outcome: "OK", TookMillis: 1.5},
		{Time: time.Unix(1_800_000_000, 0).UTC(), Request: "r2", Caller: "laptop", Credential: "token", From: "10.0.0.7:5555",
			Method: "kioku.v1.MemoryService/MemoryAppend", Agent: "ann", Access: "read", Outcome: "NotFound", TookMillis: 1.5},
	}
	if diff := cmp.Diff(want, lines(t, path)); diff != "" {
		t.Error(diff)
	}
	for file, mode := range map[string]os.FileMode{path: 0o600, filepath.Dir(path): os.ModeDir | 0o700} {
		if info, err := os.Stat(file); err != nil || info.Mode() != mode {
			t.Errorf("%s: %v, %v", file, info.Mode(), err)
		}
	}
}

// A file that others could read is closed to them, and its lines stay.
func TestLogClosesAnOpenFileToOthers(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	if err := os.WriteFile(path, []byte("{\"request\":\"old\"}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	l, _, _ := open(t, audit.Options{File: path})
	l.RecordCall(call(1))
	l.Close()
	info, err := os.Stat(path)
	if err != nil || info.Mode() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	if got := lines(t, path); len(got) != 2 || got[0].Request != "old" {
		t.Errorf("%+v", got)
	}
}

// A file that is full is renamed; the newest 5 are kept, and no line is cut.
func TestLogBeginsANewFile(t *testing.T) {
	t.Parallel()
	l, path, _ := open(t, audit.Options{MaxBytes: 1000})
	n := 0
	for i := range 60 {
		l.RecordCall(call(i))
		n++
		eventually(t, "the record is written", func() bool {
			data, _ := os.ReadFile(path)
			return strings.Contains(string(data), fmt.Sprintf(`"r%d"`, i))
		})
	}
	last := n
	for i := range 7 {
		name := path
		if i > 0 {
			name = fmt.Sprintf("%s.%d", path, i)
		}
		if i == 6 {
			if _, err := os.Stat(name); err == nil {
				t.Errorf("%s is kept", name)
			}
			break
		}
		got := lines(t, name)
		if info, err := os.Stat(name); err != nil || info.Size() > 1000 || info.Mode() != 0o600 {
			t.Errorf("%s: %v %v", name, info, err)
		}
		last -= len(got)
		if got[0].Request != fmt.Sprintf("r%d", last) {
			t.Errorf("%s begins with %s, want r%d", name, got[0].Request, last)
		}
	}
}

// Another program may rename the file: the next line goes to a new one.
func TestLogFollowsARenamedFile(t *testing.T) {
	t.Parallel()
	l, path, _ := open(t, audit.Options{})
	l.RecordCall(call(1))
	eventually(t, "the first is written", func() bool { return len(lines(t, path)) == 1 })
	if err := os.Rename(path, path+".old"); err != nil {
		t.Fatal(err)
	}
	l.RecordCall(call(2))
	l.Close()
	if got := lines(t, path); len(got) != 1 || got[0].Request != "r2" {
		t.Errorf("%+v", got)
	}
}

// A log that cannot be written is told, refuses calls only if it is required, and never blocks them. When it can be written again,
// all records that waited are there, and a line says how many did not find room.
func TestLogThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	for _, required := range []bool{false, true} {
		l, path, log := open(t, audit.Options{Required: required})
		if err, refuse := l.Err(); err != nil || refuse {
			t.Fatal(err)
		}
		if err := os.Rename(filepath.Dir(path), filepath.Dir(path)+"-away"); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Dir(path), nil, 0o600); err != nil { // where the folder was
			t.Fatal(err)
		}
		for i := range 20_000 { // waits for nothing
			l.RecordCall(call(i))
		}
		eventually(t, "the failure is known", func() bool { err, _ := l.Err(); return err != nil })
		if err, refuse := l.Err(); refuse != required {
			t.Errorf("required %v: refuse %v (%v)", required, refuse, err)
		}
		if n := strings.Count(log.String(), "calls are not recorded"); n != 1 {
			t.Errorf("%d lines in the log: %s", n, log)
		}
		if err := os.Remove(filepath.Dir(path)); err != nil {
			t.Fatal(err)
		}
		eventually(t, "records are written again", func() bool { err, _ := l.Err(); return err == nil })
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		var written, lost int64
		for _, r := range lines(t, path) {
			if r.Lost > 0 {
				lost += r.Lost
			} else {
				written++
			}
		}
		if written < 8000 || written+lost != 20_000 {
			t.Errorf("%d written, %d lost", written, lost)
		}
		if !strings.Contains(log.String(), "calls are recorded again") {
			t.Errorf("log: %s", log)
		}
	}
}

// A disk that is full cuts no line: what was written of it is taken back, and written whole when there is room.
func TestLogOnAFullDisk(t *testing.T) {
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip("no /dev/full here")
	}
	if _, err := audit.Open(audit.Options{File: "/dev/full"}); err == nil || !strings.Contains(err.Error(), "no regular file") {
		t.Errorf("a device is opened: %v", err)
	}
	var before syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &before); err != nil {
		t.Fatal(err)
	}
	l, path, _ := open(t, audit.Options{})
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 700, Max: before.Max}); err != nil {
		t.Skip("no limit can be set: ", err)
	}
	defer syscall.Setrlimit(syscall.RLIMIT_FSIZE, &before)
	for i := range 5 {
		l.RecordCall(call(i))
	}
	eventually(t, "the failure is known", func() bool { err, _ := l.Err(); return err != nil })
	lines(t, path) // which are whole
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &before); err != nil {
		t.Fatal(err)
	}
	eventually(t, "records are written again", func() bool { err, _ := l.Err(); return err == nil })
	l.Close()
	if got := lines(t, path); len(got) != 5 {
		t.Errorf("%d lines", len(got))
	}
}
