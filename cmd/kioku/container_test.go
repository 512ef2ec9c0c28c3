package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/jsonschema-go/jsonschema"
	"go.yaml.in/yaml/v3"

	"kioku/cmd/kioku/config"
	"kioku/internal/testkit"
)

// The compose files match the schema of the Compose Specification (testdata/compose-spec.json is that of compose-go 2.4.9), and their
// commands and settings are those of this program.
func TestComposeFileIsValid(t *testing.T) {
	t.Parallel()
	file := composeFile(t, "compose.yaml")
	service := file["services"].(map[string]any)["kioku"].(map[string]any)
	checkService(t, service, texts(service["healthcheck"].(map[string]any)["test"])[2:])
	service["comand"] = "x"
	checkCompose(t, file, "comand")
	for name, s := range composeFile(t, "cluster/compose.yaml")["services"].(map[string]any) {
		if service := s.(map[string]any); strings.HasPrefix(name, "kioku") {
			checkService(t, service, texts(service["healthcheck"].(map[string]any)["test"])[2:])
		}
	}
	for name, s := range composeFile(t, "council/compose.yaml")["services"].(map[string]any) {
		service := s.(map[string]any)
		if name != "fence" {
			checkService(t, service)
		}
		want := map[string]any{"read_only": true, "cap_drop": []any{"ALL"}, "security_opt": []any{"no-new-privileges:true"}}
		if name == "fence" {
			want["network_mode"], want["volumes"] = "host", []any{"./egress.nft:/egress.nft:ro"}
			want["command"] = []any{"sh", "-c", "nft -f /egress.nft && exec sleep infinity"}
		} else {
			want["tmpfs"], want["user"] = []any{"/tmp:size=64m,mode=1777"}, "1000:1000"
			want["depends_on"] = map[string]any{"fence": map[string]any{"condition": "service_healthy"}}
		}
		for key, value := range want {
			if diff := cmp.Diff(value, service[key]); diff != "" {
				t.Errorf("%s: %s: %s", name, key, diff)
			}
		}
	}
}

// The fence rejects what goes from the bridges of the council to a private address or to the host, and all but answers to what they asked.
func TestEgressRulesBlockPrivateAddresses(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../examples/council/egress.nft")
	if err != nil {
		t.Fatal(err)
	}
	rules := strings.Join(strings.Fields(string(text)), " ")
	for _, want := range []string{
		"elements = { 0.0.0.0/8, 10.0.0.0/8, 100.64.0.0/10, 127.0.0.0/8, 169.254.0.0/16, 172.16.0.0/12, 192.0.0.0/24, 192.168.0.0/16, 198.18.0.0/15, 224.0.0.0/3 }",
		"elements = { ::/127, ::ffff:0:0/96, 64:ff9b::/96, 64:ff9b:1::/48, fc00::/7, fe80::/10, ff00::/8 }",
		"chain forward { type filter hook forward priority -10; policy accept; iifname != \"br-kioku-*\" accept ct state established,related accept " +
			"iifname \"br-kioku-m\" oifname \"br-kioku-m\" accept iifname \"br-kioku-w\" oifname \"br-kioku-w\" accept " +
			"ip daddr @private4 reject with icmpx type admin-prohibited ip6 daddr @private6 reject with icmpx type admin-prohibited }",
		"chain input { type filter hook input priority -10; policy accept; iifname != \"br-kioku-*\" accept ct state established,related accept " +
			"icmpv6 type { nd-neighbor-solicit, nd-neighbor-advert } accept reject with icmpx type admin-prohibited }",
	} {
		if !strings.Contains(rules, want) {
			t.Errorf("egress.nft lacks %s", want)
		}
	}
	file := composeFile(t, "council/compose.yaml")
	for network, bridge := range map[string]string{"members": "br-kioku-m", "workers": "br-kioku-w"} {
		options := file["networks"].(map[string]any)[network].(map[string]any)["driver_opts"].(map[string]any)
		if options["com.docker.network.bridge.name"] != bridge {
			t.Errorf("%s has the bridge %v", network, options)
		}
	}
}

// composeFile returns an example that keeps the schema.
func composeFile(t *testing.T, name string) (file map[string]any) {
	t.Helper()
	text, err := os.ReadFile("../../examples/" + name)
	if err != nil {
		t.Fatal(err)
	}
	testkit.Must(t, yaml.Unmarshal(text, &file))
	for name := range file {
		if strings.HasPrefix(name, "x-") {
			delete(file, name)
		}
	}
	checkCompose(t, file, "")
	return file
}

// checkService checks the command of a service, other ones, and its settings.
func checkService(t *testing.T, service map[string]any, commands ...[]string) {
	t.Helper()
	for _, args := range append(commands, texts(service["command"])) {
		root := (&app{}).rootCmd()
		cmd, rest, err := root.Find(args)
		if err == nil {
			err = cmd.ParseFlags(rest)
		}
		if err != nil || !cmd.Runnable() {
			t.Errorf("kioku %s: %v", strings.Join(args, " "), err)
		}
	}
	for name := range service["environment"].(map[string]any) {
		if strings.HasPrefix(name, "KIOKU_") && !slices.ContainsFunc(config.Fields(), func(f config.Field) bool { return f.Env() == name }) {
			t.Errorf("%s is no setting", name)
		}
	}
}

// checkCompose compares a compose file with the schema. It must fail with a text, or not at all if that is empty.
func checkCompose(t *testing.T, file map[string]any, want string) {
	t.Helper()
	text, err := os.ReadFile("testdata/compose-spec.json")
	if err != nil {
		t.Fatal(err)
	}
	var s jsonschema.Schema
	testkit.Must(t, json.Unmarshal(text, &s))
	s.ID, s.Schema = "", "http://json-schema.org/draft-07/schema#" // as the specification of JSON Schema writes them
	resolved, err := s.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(file)
	if err != nil {
		t.Fatal(err)
	}
	var plain any
	testkit.Must(t, json.Unmarshal(data, &plain))
	err = resolved.Validate(plain)
	if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
		t.Errorf("got %v, want %q", err, want)
	}
}

// texts returns a list of YAML as texts.
func texts(list any) []string {
	var out []string
	for _, v := range list.([]any) {
		out = append(out, v.(string))
	}
	return out
}

// The health check of the image is a command of this program.
func TestDockerfileHealthCheckIsACommand(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile(`(?m)^HEALTHCHECK .*CMD (\[.*\])$`).FindSubmatch(text)
	var args []string
	if m == nil || json.Unmarshal(m[1], &args) != nil {
		t.Fatal("the image has no health check")
	}
	s := newSandbox(t, notes())
	p, _ := s.serve()
	for i, arg := range args {
		args[i] = strings.Replace(arg, "/data", s.state, 1)
	}
	if got := s.raw(args[1:]...); got.code != exitOK {
		t.Errorf("%q: exit %d: %s", args, got.code, got.stderr)
	}
	p.terminates()
	if got := s.raw(args[1:]...); got.code == exitOK {
		t.Error("the check of a daemon that has ended succeeds")
	}
}

// Hazard G03: as in the container, a user without a name, a home and time zones can serve, who may write nothing but the index and the
// notes. If the notes may not be written either, they can be searched, and an append says what is missing.
func TestServeAsInAContainer(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 {
		t.Skip("only root can become another user")
	}
	s := newSandbox(t, notes())
	binary := filepath.Join(s.home, "kioku") // that of the tests is in a folder of root's
	testkit.Must(t, os.Link(program, binary))
	testkit.Must(t, os.MkdirAll(s.state, 0o700))
	if err := os.Chmod(filepath.Dir(s.home), 0o755); err != nil { // the folder of this test
		t.Fatal(err)
	}
	const nobody = 65532
	owned := func(dir string, uid int) {
		t.Helper()
		err := filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
			if err != nil {
				return err
			}
			return os.Lchown(path, uid, uid)
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	owned(s.state, nobody)
	owned(s.workspace, nobody)
	s.env = append(systemEnv(), "TZ=/nowhere", "ZONEINFO=/nowhere", "KIOKU_STATE="+s.state, "KIOKU_WORKSPACE="+s.workspace, "TMPDIR=/nowhere")
	run := func(args ...string) *exec.Cmd {
		cmd := exec.Command(binary, args...)
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
		return cmd
	}
	s.home = "/"
	p := s.startCommand(run("serve", "--listen", "none"))
	p.waits(p.err, "ready: main 3 files")
	answer := func(args ...string) (string, error) {
		cmd := run(args...)
		cmd.Env, cmd.Dir = s.env, "/"
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	if out, err := answer("append", "A heron at the pond."); err != nil {
		t.Error(out)
	}
	owned(s.workspace, 0)
	if out, err := answer("search", "boiler"); err != nil || !strings.Contains(out, "boiler") {
		t.Errorf("%v: %s", err, out)
	}
	if out, err := answer("append", "An otter at the weir."); err == nil || !strings.Contains(out, "cannot be written by this user") {
		t.Errorf("%v: %s", err, out)
	}
	p.terminates()
}
