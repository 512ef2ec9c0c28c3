package browser

import (
	"bufio"
	"context"
	"crypto/sha256"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// kiokuBin returns the program to test, and skips the test if it was not built.
func kiokuBin(t *testing.T) string {
	t.Helper()
	bin := os.Getenv("KIOKU_BIN")
	if bin == "" {
		bin = filepath.Join("..", "bin", "kioku")
	}
	bin, err := filepath.Abs(bin)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(bin); err != nil {
		t.Skip("no program to test: run make build")
	}
	return bin
}

// daemon is a running kioku serve.
type daemon struct {
	// base is the address of the page, without a slash at its end, and dir the workspace.
	base, dir string
	// env and bin run further commands beside it, and args run it.
	env, args []string
	bin       string
	// running is its process.
	running *exec.Cmd
}

// serve writes notes into a workspace of the agent nova and serves it until the test ends. All notes are indexed when it returns.
func serve(t *testing.T, notes map[string]string, args ...string) *daemon {
	t.Helper()
	home := t.TempDir()
	d := &daemon{dir: filepath.Join(home, "notes"), bin: kiokuBin(t)}
	d.env = []string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "XDG_STATE_HOME=" + home + "/state", "XDG_CONFIG_HOME=" + home + "/config", "XDG_RUNTIME_DIR=" + home}
	for name, text := range notes {
		d.write(t, name, text)
	}
	if err := os.MkdirAll(d.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	d.args = append([]string{"serve", "--workspace", d.dir, "--agent", "nova", "--socket", home + "/k.sock", "--state", home + "/state",
		"--provider", "hash", "--set", `include=["**/*.md"]`}, args...)
	d.start(t)
	t.Cleanup(d.stop)
	return d
}

// start runs the daemon, at the address that it had before, if any, and returns once it listens.
func (d *daemon) start(t *testing.T) {
	t.Helper()
	address := "127.0.0.1:0"
	if d.base != "" {
		address = strings.TrimPrefix(d.base, "http://")
	}
	cmd := exec.Command(d.bin, append(d.args, "--listen", address)...)
	cmd.Env = d.env
	out, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	d.running, d.base = cmd, ""
	lines := bufio.NewScanner(out)
	var said []string
	for lines.Scan() {
		said = append(said, lines.Text())
		if _, address, found := strings.Cut(lines.Text(), "listening on tcp:"); found {
			d.base = "http://" + strings.Fields(address)[0]
			break
		}
	}
	if d.base == "" {
		t.Fatalf("kioku serve listens nowhere:\n%s", strings.Join(said, "\n"))
	}
	go func() {
		for lines.Scan() { // so that the daemon can write its log
		}
	}()
}

// stop ends the daemon.
func (d *daemon) stop() {
	d.running.Process.Signal(syscall.SIGTERM)
	d.running.Wait()
}

// write writes a note.
func (d *daemon) write(t *testing.T, name, text string) {
	t.Helper()
	file := filepath.Join(d.dir, name)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// indexed waits until the index has a number of files.
func (d *daemon) indexed(t *testing.T, files int) *daemon {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	want := fmt.Sprintf(`"fileCount":%d,`, files)
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for last := ""; ; {
		select {
		case <-ctx.Done():
			t.Fatalf("%d files are not indexed: %s", files, last)
		case <-tick.C:
		}
		last = d.get(t, "/v1/status")
		if strings.Contains(last, want) && strings.Contains(last, `"pendingFileCount":0`) {
			return d
		}
	}
}

// get returns the body of an answer.
func (d *daemon) get(t *testing.T, path string) string {
	t.Helper()
	_, body := d.do(t, "GET", path, "", nil)
	return body
}

// do returns the status and the body of an answer; redirects are not followed.
func (d *daemon) do(t *testing.T, method, path, body string, header http.Header) (*http.Response, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, d.base+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if header != nil {
		req.Header = header
		req.Host = header.Get("Host")
	}
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var all strings.Builder
	if _, err := bufio.NewReader(resp.Body).WriteTo(&all); err != nil {
		t.Fatal(err)
	}
	return resp, all.String()
}

// sha256Of returns the hash of a token as the token file has it.
func sha256Of(token string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(token))) }
