package kioku_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// waysOut matches what reaches the network without internal/modelhttp.
var waysOut = regexp.MustCompile(`(^|[^.\w])(http\.(Default(Client|Transport)|Get|Head|Post|PostForm)\b|http\.(Client|Transport)\{|net\.(Dial|Lookup|Resolver|DefaultResolver)|tls\.Dial|grpc\.(NewClient|Dial)\()`)

// One dialer for everything: no source but that of internal/modelhttp opens connections or makes requests, except to Unix sockets
// and by the client that sends through a transport of it.
func TestOnlyEgressReachesTheNetwork(t *testing.T) {
	t.Parallel()
	allowed := map[string]string{
		"cmd/kioku/demo.go":                      `grpc.NewClient\(address`,        // its own daemon
		"client/grpc.go":                         `"unix"|grpc.NewClient\(address`, // which dials as its options say
		"client/transport.go":                    `"unix"`,                         // to a socket, else as its options say
		"server/unix.go":                         `"unix"`,
		"cmd/kioku/manager.go":                   `grpc.NewClient\("unix:"`,
		"cmd/kioku/internal/connect/service.go":  `"unix"|&http.Transport\{\}|&http.Client\{Transport: transport,`, // to a socket, else as the network dials
		"internal/trace/otlp.go":                 "Transport: opt.Transport,",
		"cmd/kioku/internal/connect/daemon.go":   `"unix"`,
		"agent/program/tools.go":                 `"unix"`,
		"cmd/kioku/internal/connect/stop.go":     `"unix"`, // of the daemon that it ends
		"cmd/kioku/internal/modelstore/fetch.go": "Transport: f.transport,",
		"internal/modelhttp/client.go":           "Transport: c,",
	}
	found := 0
	err := filepath.WalkDir(".", func(path string, e fs.DirEntry, err error) error {
		path = filepath.ToSlash(path)
		if err != nil || e.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") ||
			strings.HasPrefix(path, "examples/") || strings.HasPrefix(path, "internal/testkit/") || strings.HasPrefix(path, "pgstore/pgtest/") {
			return err
		}
		src, err := os.ReadFile(path)
		for line := range strings.Lines(string(src)) {
			code, _, _ := strings.Cut(line, "//")
			switch {
			case !waysOut.MatchString(code):
			case path == "internal/modelhttp/network.go", allowed[path] != "" && regexp.MustCompile(allowed[path]).MatchString(code):
				found++
			default:
				t.Errorf("%s does not go through modelhttp.Network: %s", path, strings.TrimSpace(line))
			}
		}
		return err
	})
	if err != nil || found < 4 {
		t.Errorf("%d lines found, %v", found, err)
	}
}
