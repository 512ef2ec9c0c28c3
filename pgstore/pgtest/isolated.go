package pgtest

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// diskSize is the size of the disk of an isolated node.
const diskSize = "600m"

// Isolated is Patroni with nodes that have a small disk and two networks each, one for clients and one for the others and etcd, if the test runs as
// root on Linux and may make such. Otherwise they are those of Patroni.
func Isolated(t testing.TB, settings ...string) *Cluster {
	t.Helper()
	c := newCluster(t)
	if os.Getuid() != 0 || c.isolate() != nil {
		return Patroni(t, settings...)
	}
	c.Isolated = true
	c.start(c.network(1, 1), settings)
	return c
}

// network returns an address in one of the two networks.
func (c *Cluster) network(network, host int) string {
	return fmt.Sprintf("10.%d.%d.%d", 128+os.Getpid()%100, network, host)
}

// link names the end of a cable, by which a node is in a network.
func (c *Cluster) link(network, node int) string {
	return fmt.Sprintf("k%dn%d%d", os.Getpid(), network, node)
}

// isolate makes disks, namespaces and networks, which go with the test.
func (c *Cluster) isolate() error {
	undo := func(args ...string) { c.t.Cleanup(func() { _ = exec.Command(args[0], args[1:]...).Run() }) }
	for network := range 2 {
		bridge := fmt.Sprintf("k%db%d", os.Getpid(), network)
		undo("ip", "link", "del", bridge)
		if err := runAll("ip link add "+bridge+" type bridge", "ip link set "+bridge+" up", "ip addr add "+c.network(network, 1)+"/24 dev "+bridge); err != nil {
			return err
		}
	}
	for i := range c.nodes {
		n := &c.nodes[i]
		n.space, n.disk = fmt.Sprintf("k%ds%d", os.Getpid(), i), filepath.Join(c.Dir, c.name(i))
		n.clients, n.nodes, n.port, n.api = c.network(0, 10+i), c.network(1, 10+i), "5432", "8008"
		undo("ip", "netns", "del", n.space)
		undo("umount", "-l", n.disk)
		commands := []string{"mkdir " + n.disk, fmt.Sprintf("mount -t tmpfs -o size=%s,uid=%d,gid=%d,mode=700 kioku-test %s", diskSize, nobody, nobody, n.disk),
			"ip netns add " + n.space, "ip -n " + n.space + " link set lo up"}
		for network := range 2 {
			link := c.link(network, i)
			commands = append(commands, "ip link add "+link+" type veth peer name eth"+fmt.Sprint(network)+" netns "+n.space,
				fmt.Sprintf("ip link set %s master k%db%d up", link, os.Getpid(), network),
				fmt.Sprintf("ip -n %s addr add %s/24 dev eth%d", n.space, c.network(network, 10+i), network), fmt.Sprintf("ip -n %s link set eth%d up", n.space, network))
		}
		if err := runAll(commands...); err != nil {
			return err
		}
	}
	return nil
}

// runAll runs commands until one fails.
func runAll(commands ...string) error {
	for _, line := range commands {
		args := strings.Fields(line)
		if out, err := exec.Command(args[0], args[1:]...).CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %w: %s", line, err, out)
		}
	}
	return nil
}

// inSpace returns a command as one that runs in a network namespace.
func inSpace(cmd *exec.Cmd, space string) *exec.Cmd {
	user := fmt.Sprint(nobody)
	in := exec.Command("ip", append([]string{"netns", "exec", space, "setpriv", "--reuid", user, "--regid", user, "--clear-groups"}, cmd.Args...)...)
	in.Dir, in.Env = cmd.Dir, cmd.Env
	return in
}

// Cut cuts an isolated node off from the other nodes and etcd, and from clients too, if it is to be cut off from these.
func (c *Cluster) Cut(i int, clients bool) {
	c.t.Helper()
	testMust(c.t, runAll("ip link set "+c.link(1, i)+" down"))
	if clients {
		testMust(c.t, runAll("ip link set "+c.link(0, i)+" down"))
	}
}

// Mend connects a node again.
func (c *Cluster) Mend(i int) {
	c.t.Helper()
	testMust(c.t, runAll("ip link set "+c.link(0, i)+" up", "ip link set "+c.link(1, i)+" up"))
}

// Fill fills the disk of an isolated node.
func (c *Cluster) Fill(i int) {
	c.t.Helper()
	f, err := os.Create(c.filler(i))
	testMust(c.t, err)
	defer f.Close()
	for err == nil { // until nothing fits
		_, err = io.CopyN(f, zeros{}, 1<<20)
	}
}

// Empty makes room again.
func (c *Cluster) Empty(i int) { testMust(c.t, os.Remove(c.filler(i))) }

func (c *Cluster) filler(i int) string { return filepath.Join(c.nodes[i].disk, "filler") }

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }
