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
	Dir string // of all files; node i has those of PostgreSQL in the folder i

	t     testing.TB
	bin   string // of patroni
	nodes [Nodes]patroniNode
}

// patroniNode is one machine.
type patroniNode struct {
	host, port, api string
	patroni         *exec.Cmd // nil if it is not there
}

// Patroni starts the nodes, with settings of PostgreSQL (name=value), and waits until they are healthy.
func Patroni(t testing.TB, settings ...string) *Cluster {
	t.Helper()
	postgres, bin := os.Getenv(Env), os.Getenv(PatroniEnv)
	if postgres == "" || bin == "" {
		t.Skip("needs PostgreSQL, Patroni and etcd: .ci/postgres installs them, and KIOKU_POSTGRES and KIOKU_PATRONI name their folders")
	}
	dir, err := os.MkdirTemp("", "pa") // short: it has sockets, and open to the server's user
	if err != nil {
		t.Fatal(err)
	}
	c := &Cluster{Dir: dir, t: t, bin: bin}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if os.Getuid() == 0 {
		if err := os.Chown(dir, nobody, nobody); err != nil {
			t.Fatal(err)
		}
	}
	parameters := map[string]string{"shared_buffers": "16MB", "fsync": "off", "max_connections": "100", "max_wal_size": "128MB", "wal_keep_size": "64MB",
		"wal_sender_timeout": "3s", "wal_receiver_timeout": "3s", "wal_receiver_status_interval": "1s", "wal_retrieve_retry_interval": "500ms"}
	for _, set := range settings {
		name, value, _ := strings.Cut(set, "=")
		parameters[name] = value
	}
	client, peer := "http://127.0.0.1:"+freePort(t), "http://127.0.0.1:"+freePort(t)
	etcd := c.run("etcd", filepath.Join(bin, "etcd"), "--name", "etcd", "--data-dir", filepath.Join(dir, "etcd"), "--unsafe-no-fsync", "--listen-client-urls", client,
		"--advertise-client-urls", client, "--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer, "--initial-cluster", "etcd="+peer)
	t.Cleanup(func() { end(etcd) })
	for i := range c.nodes {
		n := &c.nodes[i]
		n.host, n.port, n.api = "127.0.0.1", freePort(t), freePort(t)
		trust := []string{"local all all trust", "host all all all trust", "host replication all all trust"}
		c.write(c.name(i)+".yaml", map[string]any{
			"scope": "kioku", "name": c.name(i),
			"etcd3":   map[string]any{"url": client},
			"restapi": map[string]any{"listen": n.host + ":" + n.api, "connect_address": n.host + ":" + n.api},
			"bootstrap": map[string]any{"initdb": []any{map[string]any{"encoding": "UTF8"}, map[string]any{"locale": "C"}, "no-sync"}, "dcs": map[string]any{
				"ttl": int(TTL.Seconds()), "loop_wait": 1, "retry_timeout": 3, "primary_start_timeout": 0,
				"synchronous_mode": true, "synchronous_mode_strict": true, "synchronous_node_count": Nodes - 1,
				"postgresql": map[string]any{"use_pg_rewind": true, "parameters": parameters},
			}},
			"postgresql": map[string]any{
				"listen": n.host + ":" + n.port, "connect_address": n.host + ":" + n.port, "data_dir": filepath.Join(dir, c.name(i)), "bin_dir": postgres,
				"pgpass": filepath.Join(dir, c.name(i)+".pgpass"), "pg_hba": trust, "parameters": map[string]any{"unix_socket_directories": dir},
				"authentication": map[string]any{"superuser": map[string]any{"username": "postgres"}, "replication": map[string]any{"username": "replicator"}},
			},
		})
		t.Cleanup(func() { c.Kill(i, true) })
		c.Start(i)
	}
	c.WaitHealthy()
	return c
}

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
	if err == nil {
		err = os.WriteFile(filepath.Join(c.Dir, name), text, 0o644)
	}
	if err != nil {
		c.t.Fatal(err)
	}
}

// run starts a program that logs into a file of its name.
func (c *Cluster) run(name, program string, args ...string) *exec.Cmd {
	c.t.Helper()
	log, err := os.OpenFile(filepath.Join(c.Dir, name+".log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		c.t.Fatal(err)
	}
	defer log.Close()
	cmd := command(context.Background(), c.Dir, program, args...)
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		c.t.Fatal(err)
	}
	return cmd
}

// end kills a program.
func end(cmd *exec.Cmd) {
	signal(cmd.Process.Pid, syscall.SIGKILL)
	_ = cmd.Wait() // it was killed
}

// Start starts Patroni of a node, which starts PostgreSQL.
func (c *Cluster) Start(i int) {
	c.t.Helper()
	if c.nodes[i].patroni == nil {
		c.nodes[i].patroni = c.run(c.name(i), filepath.Join(c.bin, "patroni"), filepath.Join(c.Dir, c.name(i)+".yaml"))
	}
}

// Kill kills PostgreSQL of a node with all its processes, and before it Patroni, if that is to go too.
func (c *Cluster) Kill(i int, patroni bool) {
	if n := &c.nodes[i]; patroni && n.patroni != nil {
		end(n.patroni)
		n.patroni = nil
	}
	c.signal(i, syscall.SIGKILL)
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
	text, _ := os.ReadFile(filepath.Join(c.Dir, c.name(i), "postmaster.pid"))
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
		answer, err := client.Get("http://" + n.host + ":" + n.api + "/cluster")
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
	for _, n := range c.nodes {
		hosts = append(hosts, n.host+":"+n.port)
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
	execute(c.t, c.Address(user, database)+"&target_session_attrs=read-write", statements)
}

// execute runs statements.
func execute(t testing.TB, address string, statements []string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	for _, sql := range statements {
		if _, err := conn.Exec(t.Context(), sql); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
}
