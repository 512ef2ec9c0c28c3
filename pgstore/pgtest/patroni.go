package pgtest

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// PatroniEnv names the folder with the programs patroni and etcd.
const PatroniEnv = "KIOKU_PATRONI"

// Nodes is the number of PostgreSQL nodes that Patroni looks after.
const Nodes = 3

// TTL is how long a primary that is not heard of stays the primary. Patroni knows no shorter time.
const TTL = 20 * time.Second

// Cluster is three PostgreSQL nodes, one primary and two synchronous standbys, which Patroni looks after until the test ends.
type Cluster struct {
	Dir string // of all files
	// Isolated reports that each node has a disk and networks of its own; see Isolated.
	Isolated bool

	t     testing.TB
	bin   string // of patroni
	nodes [Nodes]patroniNode
}

// patroniNode is one machine. Clients reach it at one address, and the other nodes and etcd at another.
type patroniNode struct {
	clients, nodes, port, api string
	disk                      string    // the folder of its files
	patroni                   *exec.Cmd // nil if it is not there
	space                     string    // the network namespace of an isolated node
}

// Patroni starts the nodes, with settings of PostgreSQL (name=value), and waits until they are healthy.
func Patroni(t testing.TB, settings ...string) *Cluster {
	t.Helper()
	c := newCluster(t)
	for i := range c.nodes {
		n := &c.nodes[i]
		n.clients, n.nodes, n.port, n.api, n.disk = "127.0.0.1", "127.0.0.1", freePort(t), freePort(t), filepath.Join(c.Dir, c.name(i))
		testMust(t, os.Mkdir(n.disk, 0o700))
		c.give(n.disk)
	}
	c.start("127.0.0.1", settings)
	return c
}

// newCluster makes the folder of a cluster.
func newCluster(t testing.TB) *Cluster {
	t.Helper()
	bin := os.Getenv(PatroniEnv)
	if os.Getenv(Env) == "" || bin == "" {
		t.Skip("needs PostgreSQL, Patroni and etcd: .ci/postgres installs them, and KIOKU_POSTGRES and KIOKU_PATRONI name their folders")
	}
	dir, err := os.MkdirTemp("", "pa") // short: it has sockets, and open to the server's user
	if err != nil {
		t.Fatal(err)
	}
	c := &Cluster{Dir: dir, t: t, bin: bin}
	t.Cleanup(func() { os.RemoveAll(dir) })
	c.give(dir)
	return c
}

// give makes the server's user the owner of a folder.
func (c *Cluster) give(dir string) {
	if os.Getuid() == 0 {
		testMust(c.t, os.Chown(dir, nobody, nobody))
	}
}

func testMust(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// start starts etcd at an address, and the nodes, and waits until they are healthy.
func (c *Cluster) start(at string, settings []string) {
	c.t.Helper()
	parameters := map[string]string{"shared_buffers": "16MB", "fsync": "off", "max_connections": "100", "max_wal_size": "128MB", "wal_keep_size": "64MB",
		"wal_sender_timeout": "3s", "wal_receiver_timeout": "3s", "wal_receiver_status_interval": "1s", "wal_retrieve_retry_interval": "500ms"}
	for _, set := range settings {
		name, value, _ := strings.Cut(set, "=")
		parameters[name] = value
	}
	client, peer := "http://"+at+":"+freePort(c.t), "http://127.0.0.1:"+freePort(c.t)
	etcd := c.run("etcd", "", filepath.Join(c.bin, "etcd"), "--name", "etcd", "--data-dir", filepath.Join(c.Dir, "etcd"), "--unsafe-no-fsync", "--listen-client-urls", client,
		"--advertise-client-urls", client, "--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer, "--initial-cluster", "etcd="+peer)
	c.t.Cleanup(func() {
		signal(etcd.Process.Pid, syscall.SIGKILL) // with its child: the program is a script
		_ = etcd.Wait()
	})
	for i := range c.nodes {
		n := &c.nodes[i]
		trust := []string{"local all all trust", "host all all all trust", "host replication all all trust"}
		c.write(c.name(i)+".yaml", map[string]any{
			"scope": "kioku", "name": c.name(i),
			"etcd3":   map[string]any{"url": client},
			"restapi": map[string]any{"listen": n.nodes + ":" + n.api, "connect_address": n.nodes + ":" + n.api},
			"bootstrap": map[string]any{"initdb": []any{map[string]any{"encoding": "UTF8"}, map[string]any{"locale": "C"}, "no-sync"}, "dcs": map[string]any{
				"ttl": int(TTL.Seconds()), "loop_wait": 1, "retry_timeout": 3, "primary_start_timeout": 0,
				"synchronous_mode": true, "synchronous_mode_strict": true, "synchronous_node_count": Nodes - 1,
				"postgresql": map[string]any{"use_pg_rewind": true, "parameters": parameters},
			}},
			"postgresql": map[string]any{
				"listen": n.nodes + "," + n.clients + ":" + n.port, "connect_address": n.nodes + ":" + n.port, "data_dir": n.data(), "bin_dir": os.Getenv(Env),
				"pgpass": filepath.Join(c.Dir, c.name(i)+".pgpass"), "pg_hba": trust, "parameters": map[string]any{"unix_socket_directories": n.disk},
				"authentication": map[string]any{"superuser": map[string]any{"username": "postgres"}, "replication": map[string]any{"username": "replicator"}},
			},
		})
		c.t.Cleanup(func() { c.Kill(i, true) })
		c.Start(i)
	}
	c.WaitHealthy()
}

// data is the folder of PostgreSQL.
func (n *patroniNode) data() string { return filepath.Join(n.disk, "data") }

// freePort returns a port of this machine that nobody listens at.
func freePort(t testing.TB) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return strconv.Itoa(l.Addr().(*net.TCPAddr).Port)
}

func (c *Cluster) name(i int) string { return fmt.Sprintf("node%d", i) }

// write writes a file as JSON, which is YAML too.
func (c *Cluster) write(name string, what any) {
	text, err := json.Marshal(what)
	testMust(c.t, err)
	testMust(c.t, os.WriteFile(filepath.Join(c.Dir, name), text, 0o644))
}

// run starts a program that logs into a file of its name, in a network namespace or in that of the test.
func (c *Cluster) run(name, space, program string, args ...string) *exec.Cmd {
	c.t.Helper()
	log, err := os.OpenFile(filepath.Join(c.Dir, name+".log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	testMust(c.t, err)
	defer log.Close()
	cmd := command(context.Background(), c.Dir, program, args...)
	if space != "" {
		cmd = inSpace(cmd, space)
	}
	cmd.Stdout, cmd.Stderr = log, log
	testMust(c.t, cmd.Start())
	return cmd
}

// Start starts Patroni of a node, which starts PostgreSQL.
func (c *Cluster) Start(i int) {
	c.t.Helper()
	if n := &c.nodes[i]; n.patroni == nil {
		n.patroni = c.run(c.name(i), n.space, filepath.Join(c.bin, "patroni"), filepath.Join(c.Dir, c.name(i)+".yaml"))
	}
}

// Kill kills PostgreSQL of a node with all its processes, and before it Patroni, if that is to go too.
func (c *Cluster) Kill(i int, patroni bool) {
	if patroni {
		c.KillPatroni(i)
	}
	c.signal(i, syscall.SIGKILL)
}

// KillPatroni kills only Patroni of a node. PostgreSQL goes on as what it is, also if another node becomes the primary.
func (c *Cluster) KillPatroni(i int) {
	if n := &c.nodes[i]; n.patroni != nil {
		_ = n.patroni.Process.Kill()
		_ = n.patroni.Wait() // it was killed
		n.patroni = nil
	}
}

// Pause stops all processes of a node, as if the machine stood still.
func (c *Cluster) Pause(i int) {
	signal(c.nodes[i].patroni.Process.Pid, syscall.SIGSTOP)
	c.signal(i, syscall.SIGSTOP)
}

// Continue has a paused node go on.
func (c *Cluster) Continue(i int) {
	c.signal(i, syscall.SIGCONT)
	signal(c.nodes[i].patroni.Process.Pid, syscall.SIGCONT)
}

// signal sends a signal to PostgreSQL of a node, if it runs.
func (c *Cluster) signal(i int, sig syscall.Signal) {
	text, _ := os.ReadFile(filepath.Join(c.nodes[i].data(), "postmaster.pid"))
	if pid, err := strconv.Atoi(strings.SplitN(string(text), "\n", 2)[0]); err == nil {
		signal(pid, sig)
	}
}

// member is what Patroni says of a node.
type member struct{ Name, Role, State string }

// members asks any node for all.
func (c *Cluster) members() []member {
	for _, n := range c.nodes {
		client := http.Client{Timeout: time.Second}
		answer, err := client.Get("http://" + n.nodes + ":" + n.api + "/cluster")
		if err != nil {
			continue
		}
		var all struct{ Members []member }
		err = json.NewDecoder(answer.Body).Decode(&all)
		answer.Body.Close()
		if err == nil {
			return all.Members
		}
	}
	return nil
}

// Primary returns the node that is the primary, -1 if none is.
func (c *Cluster) Primary() int {
	for _, m := range c.members() {
		if i, err := strconv.Atoi(strings.TrimPrefix(m.Name, "node")); err == nil && m.Role == "leader" && m.State == "running" {
			return i
		}
	}
	return -1
}

// WaitHealthy waits until there are a primary and two synchronous standbys that follow it.
func (c *Cluster) WaitHealthy() {
	c.t.Helper()
	for deadline := time.Now().Add(2 * time.Minute); ; time.Sleep(100 * time.Millisecond) {
		primary, standbys := 0, 0
		all := c.members()
		for _, m := range all {
			switch {
			case m.Role == "leader" && m.State == "running":
				primary++
			case m.Role == "sync_standby" && m.State == "streaming":
				standbys++
			}
		}
		if primary == 1 && standbys == Nodes-1 {
			return
		}
		if c.t.Context().Err() != nil || time.Now().After(deadline) {
			c.t.Fatalf("Patroni's nodes are not healthy: %+v\n%s", all, c.Logs())
		}
	}
}

// Logs returns the last lines of all nodes.
func (c *Cluster) Logs() string {
	var all strings.Builder
	for i := range c.nodes {
		text, _ := os.ReadFile(filepath.Join(c.Dir, c.name(i)+".log"))
		lines := strings.Split(string(text), "\n")
		fmt.Fprintf(&all, "%s:\n%s\n", c.name(i), strings.Join(lines[max(0, len(lines)-20):], "\n"))
	}
	return all.String()
}

// Address is that of a database of the primary, whichever node it is, for a user.
func (c *Cluster) Address(user, database string) string {
	var hosts []string
	first := max(0, c.Primary()) // which a client that connects again asks first, also if it is no longer the primary
	for _, n := range slices.Concat(c.nodes[first:], c.nodes[:first]) {
		hosts = append(hosts, n.clients+":"+n.port)
	}
	return fmt.Sprintf("postgres://%s@%s/%s?sslmode=disable", user, strings.Join(hosts, ","), database)
}

// Database makes a database with a role that is no superuser and owns it, at all nodes, and returns its address.
func (c *Cluster) Database(name string) string {
	c.t.Helper()
	c.Exec("postgres", "postgres", "SET synchronous_commit = remote_apply", fmt.Sprintf("CREATE ROLE %s_node LOGIN", name), fmt.Sprintf("CREATE DATABASE %s OWNER %s_node", name, name))
	return c.Address(name+"_node", name)
}

// Exec runs statements at the primary.
func (c *Cluster) Exec(user, database string, statements ...string) {
	c.t.Helper()
	testMust(c.t, c.Try(user, database, statements...))
}

// Try runs statements at the primary until one fails.
func (c *Cluster) Try(user, database string, statements ...string) error {
	return execute(c.t.Context(), c.Address(user, database)+"&target_session_attrs=read-write", statements)
}

// execute runs statements until one fails.
func execute(ctx context.Context, address string, statements []string) error {
	conn, err := pgx.Connect(ctx, address)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	for _, sql := range statements {
		if _, err := conn.Exec(ctx, sql); err != nil {
			return fmt.Errorf("%s: %w", sql, err)
		}
	}
	return nil
}
