package server_test

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"testing"
	"time"

	"go.uber.org/goleak"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"

	"kioku"
	"kioku/indexer"
	"kioku/memory"
	kiokuv1 "kioku/proto/kioku/v1"
	"kioku/server"
	"kioku/vectors"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var _ server.Memory = (*kioku.Memory)(nil)

// fakeMemory answers with what its fields say, and with zero values if they say nothing.
type fakeMemory struct {
	workspace string
	search    func(context.Context, memory.Query) (memory.Answer, error)
	explain   func(context.Context, memory.Query, string, int) (memory.Explanation, error)
	state     func(context.Context) (memory.IndexStats, error)
	get       func(context.Context, memory.GetRequest) (memory.Excerpt, error)
	files     func(context.Context, memory.FileQuery) (memory.FileList, error)
	links     func(context.Context, string) (memory.Links, error)
	chunks    func(ctx context.Context, file string) (memory.Chunks, error)
	drawn     func(context.Context, memory.MapQuery) (memory.Map, error)
	activity  func(ctx context.Context, since, until string) (memory.Activity, error)
	append    func(context.Context, memory.Note) (memory.Appended, error)
	update    func(context.Context, memory.Update) (memory.Updated, error)
	undo      func(ctx context.Context, revision string) (memory.Updated, error)
	revisions func(context.Context) ([]memory.Revision, error)
	sync      func(context.Context, kioku.SyncOptions, func(indexer.Progress)) (kioku.SyncReport, error)
	status    func(context.Context) (kioku.Status, error)
	estimate  func(context.Context) (vectors.Estimate, error)
	events    chan kioku.Event
	history   server.History
}

func (f *fakeMemory) Workspace() string { return f.workspace }

func (f *fakeMemory) Search(ctx context.Context, q memory.Query) (memory.Answer, error) {
	if f.search == nil {
		return memory.Answer{}, nil
	}
	return f.search(ctx, q)
}

func (f *fakeMemory) Explain(ctx context.Context, q memory.Query, path string, line int) (memory.Explanation, error) {
	if f.explain == nil {
		return memory.Explanation{}, nil
	}
	return f.explain(ctx, q, path, line)
}

func (f *fakeMemory) IndexStats(ctx context.Context) (memory.IndexStats, error) {
	if f.state == nil {
		return memory.IndexStats{}, nil
	}
	return f.state(ctx)
}

func (f *fakeMemory) Get(ctx context.Context, req memory.GetRequest) (memory.Excerpt, error) {
	if f.get == nil {
		return memory.Excerpt{}, memory.ErrNotFound
	}
	return f.get(ctx, req)
}

func (f *fakeMemory) Map(ctx context.Context, q memory.MapQuery) (memory.Map, error) {
	if f.drawn == nil {
		return memory.Map{}, nil
	}
	return f.drawn(ctx, q)
}

func (f *fakeMemory) Activity(ctx context.Context, since, until string) (memory.Activity, error) {
	if f.activity == nil {
		return memory.Activity{}, nil
	}
	return f.activity(ctx, since, until)
}

func (f *fakeMemory) Files(ctx context.Context, q memory.FileQuery) (memory.FileList, error) {
	if f.files == nil {
		return memory.FileList{}, nil
	}
	return f.files(ctx, q)
}

func (f *fakeMemory) Links(ctx context.Context, file string) (memory.Links, error) {
	if f.links == nil {
		return memory.Links{}, memory.ErrNotFound
	}
	return f.links(ctx, file)
}

func (f *fakeMemory) Chunks(ctx context.Context, file string) (memory.Chunks, error) {
	if f.chunks == nil {
		return memory.Chunks{}, memory.ErrNotFound
	}
	return f.chunks(ctx, file)
}

func (f *fakeMemory) Append(ctx context.Context, note memory.Note) (memory.Appended, error) {
	if f.append == nil {
		return memory.Appended{Path: "memory/2026-03-01.md", StartLine: 1}, nil
	}
	return f.append(ctx, note)
}

func (f *fakeMemory) Update(ctx context.Context, u memory.Update) (memory.Updated, error) {
	if f.update == nil {
		return memory.Updated{Path: "MEMORY.md", StartLine: 1, Revision: "r"}, nil
	}
	return f.update(ctx, u)
}

func (f *fakeMemory) Tidy(context.Context, []string) (memory.Tidied, error) {
	return memory.Tidied{Entries: []memory.Untidy{}}, nil
}

func (f *fakeMemory) Forget(context.Context, memory.Forget) (memory.Forgotten, error) {
	return memory.Forgotten{Places: []memory.ForgottenPlace{}}, nil
}

func (f *fakeMemory) Undo(ctx context.Context, revision string) (memory.Updated, error) {
	if f.undo == nil {
		return memory.Updated{Path: "MEMORY.md", StartLine: 1, Revision: revision}, nil
	}
	return f.undo(ctx, revision)
}

func (f *fakeMemory) Revisions(ctx context.Context) ([]memory.Revision, error) {
	if f.revisions == nil {
		return nil, nil
	}
	return f.revisions(ctx)
}

func (f *fakeMemory) Sync(ctx context.Context, opt kioku.SyncOptions, step func(indexer.Progress)) (kioku.SyncReport, error) {
	if f.sync == nil {
		return kioku.SyncReport{}, nil
	}
	return f.sync(ctx, opt, step)
}

func (f *fakeMemory) Rebuild(ctx context.Context, step func(indexer.Progress)) (kioku.SyncReport, error) {
	return f.Sync(ctx, kioku.SyncOptions{Verify: true}, step)
}

func (f *fakeMemory) Estimate(ctx context.Context) (vectors.Estimate, error) {
	if f.estimate == nil {
		return vectors.Estimate{}, nil
	}
	return f.estimate(ctx)
}

func (f *fakeMemory) Status(ctx context.Context) (kioku.Status, error) {
	if f.status == nil {
		return kioku.Status{}, nil
	}
	return f.status(ctx)
}

func (f *fakeMemory) Subscribe(ctx context.Context) <-chan kioku.Event {
	out := make(chan kioku.Event)
	go func() {
		defer close(out)
		for {
			select {
			case e, ok := <-f.events:
				if !ok {
					return
				}
				select {
				case out <- e:
				case <-ctx.Done():
					return
				}
			case <-ctx.Done():
				return
			}
		}
	}()
	return out
}

// agents makes options that serve one memory as "main".
func agents(m server.Memory) server.Options {
	return server.Options{Agents: map[string]server.Memory{"main": m}}
}

// mustLocal returns a client of a server in this process, and what ends it.
func mustLocal(t testing.TB, s *server.Server) (kiokuv1.MemoryServiceClient, func() error) {
	t.Helper()
	client, stop, err := s.Loopback()
	if err != nil {
		t.Fatal(err)
	}
	return client, stop
}

func newServer(t *testing.T, opt server.Options) *server.Server {
	t.Helper()
	s, err := server.New(opt)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// local returns a client of a server in this process.
func local(t *testing.T, opt server.Options) kiokuv1.MemoryServiceClient {
	t.Helper()
	client, stop := mustLocal(t, newServer(t, opt))
	t.Cleanup(func() {
		if err := stop(); err != nil {
			t.Errorf("stop: %v", err)
		}
	})
	return client
}

// serve runs a server until the test ends or stop is called, which returns what Serve did.
func serve(t *testing.T, s *server.Server, listeners ...server.Listener) (stop func() error) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	var err error
	go func() {
		defer close(done)
		err = s.Serve(ctx, listeners...)
	}()
	stop = func() error { cancel(); <-done; return err }
	t.Cleanup(func() { stop() })
	return stop
}

func dial(t *testing.T, target string, opts ...grpc.DialOption) *grpc.ClientConn {
	t.Helper()
	opts = append(opts, grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithNoProxy())
	conn, err := grpc.NewClient(target, opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn
}

// onSocket serves on a unix socket and returns a connection to it.
func onSocket(t *testing.T, opt server.Options) *grpc.ClientConn {
	t.Helper()
	path := filepath.Join(t.TempDir(), "s", "kioku.sock")
	l, err := server.ListenUnix(path)
	if err != nil {
		t.Fatal(err)
	}
	serve(t, newServer(t, opt), l)
	return dial(t, "unix://"+path)
}

// onTCP serves on a loopback port and returns its address.
func onTCP(t *testing.T, opt server.Options) string {
	t.Helper()
	l, err := server.ListenTCP("127.0.0.1:0", server.TCPOptions{Tokens: opt.Tokens})
	if err != nil {
		t.Fatal(err)
	}
	serve(t, newServer(t, opt), l)
	return l.Addr().String()
}

func wantCode(t *testing.T, err error, want codes.Code) {
	t.Helper()
	if got := status.Code(err); got != want {
		t.Errorf("code = %v (%v), want %v", got, err, want)
	}
}

// logTo returns a logger that writes to w, from debug on.
func logTo(w interface{ Write([]byte) (int, error) }) *slog.Logger {
	return slog.New(slog.NewJSONHandler(w, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

var errBoom = errors.New("disk on fire at /var/secret")

// soon is long enough for anything that does not hang.
const soon = 4 * time.Minute

func (f *fakeMemory) Log(ctx context.Context, q memory.LogQuery) ([]memory.FileChange, error) {
	return f.history.Log(ctx, q)
}

func (f *fakeMemory) Show(ctx context.Context, path string, at memory.Moment, ceiling *memory.Sensitivity) (memory.PastFile, error) {
	return f.history.Show(ctx, path, at, ceiling)
}

func (f *fakeMemory) Diff(ctx context.Context, q memory.DiffQuery) (memory.Diff, error) {
	return f.history.Diff(ctx, q)
}

func (f *fakeMemory) SearchPast(ctx context.Context, q memory.Query, at memory.Moment) (memory.PastAnswer, error) {
	return f.history.SearchPast(ctx, q, at)
}

func (f *fakeMemory) UndoWrites(ctx context.Context, u memory.UndoWrites) (memory.UndoneWrites, error) {
	return f.history.UndoWrites(ctx, u)
}

func (f *fakeMemory) PurgeHistory(ctx context.Context, path string) (memory.Purged, error) {
	return f.history.PurgeHistory(ctx, path)
}
