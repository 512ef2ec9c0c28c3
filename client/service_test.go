package client_test

import (
	"encoding/json"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"testing"

	"go.uber.org/goleak"

	"kioku/client"
	"kioku/server/op"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fakeService remembers the last request and answers with what its fields say.
type fakeService struct {
	route, body, token string

	answer any
	status int // of an error; 0 answers
	hang   bool
}

// ServeHTTP implements http.Handler.
func (f *fakeService) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	f.route, f.body, f.token = r.Method+" "+r.URL.String(), string(body), r.Header.Get("Authorization")
	if f.hang {
		<-r.Context().Done()
		return
	}
	answer, err := op.Marshal(f.answer)
	if f.status != 0 {
		w.WriteHeader(f.status)
		answer, err = json.Marshal(map[string]any{"error": f.answer})
	}
	if err != nil {
		panic(err)
	}
	_, _ = w.Write(answer)
}

// start serves f on a unix socket in dir and returns its target.
func start(dir string, f *fakeService) (target string, stop func(), err error) {
	path := filepath.Join(dir, "kioku.sock")
	lis, err := net.Listen("unix", path)
	if err != nil {
		return "", nil, err
	}
	s := &http.Server{Handler: f}
	done := make(chan struct{})
	go func() { defer close(done); _ = s.Serve(lis) }()
	return "unix://" + path, func() { s.Close(); <-done }, nil
}

// connect returns a client of f.
func connect(t *testing.T, f *fakeService, opt client.Options) *client.Client {
	t.Helper()
	target, stop, err := start(t.TempDir(), f)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
	return dial(t, target, opt)
}

func dial(t *testing.T, target string, opt client.Options) *client.Client {
	t.Helper()
	c, err := client.Dial(target, opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}
