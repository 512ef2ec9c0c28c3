package main

import (
	"fmt"
	"kioku/server"
	"kioku/server/op"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// councilCallers are who asks a council, by the columns of testdata/councilrights.txt, with their lists in the token file.
var councilCallers = []struct{ name, agents, rights string }{
	{"nobody", "", ""}, // no token
	{"agent", "[panda]", "[]"}, {"read", "[]", "[read]"}, {"submit", "[]", "[submit]"}, {"owner", "[]", "[owner]"},
	{"member:panda", "[panda, council]", `["member:panda"]`}, {"worker:buddy", "[]", `["worker:buddy"]`}, {"bridge:discord", "[]", `["bridge:discord"]`},
}

// openCouncil starts a daemon that runs a council, and returns what the token of its member panda must not see: the memory of gorilla.
func openCouncil(t *testing.T) doors {
	t.Helper()
	s := newCouncil(t)
	folder := filepath.Join(s.workspace, "council")
	for path, text := range map[string]string{
		"members/gorilla/" + secretFile: "# Zanzibar treaty\n\n- The password is " + secretWord + ".\n",
		"agent/memory/treaty.md":        "# Zanzibar treaty\n\n- The council has read it.\n",
		"members/panda/memory/mine.md":  "# Zanzibar treaty\n\n- Panda has its doubts.\n",
	} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(folder, path)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, path), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	settings, err := os.OpenFile(filepath.Join(folder, "council.yaml"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := settings.WriteString("workers: [buddy, other]\nowners: {discord: [\"4711\"]}\n"); err != nil {
		t.Fatal(err)
	}
	if err := settings.Close(); err != nil {
		t.Fatal(err)
	}
	var entries []string
	for _, c := range councilCallers[1:] {
		entries = append(entries, fmt.Sprintf("{name: %s, sha256: %s, agents: %s, council: %s}",
			strings.ReplaceAll(c.name, ":", "-"), hashToken("for "+c.name), c.agents, c.rights))
	}
	s.env = append(s.env, "KIOKU_TOKENS=tokens: ["+strings.Join(entries, ", ")+"]")
	p := s.start("council", "--folder", folder, "serve", "--echo", "--listen", "127.0.0.1:0")
	_, address, _ := strings.Cut(p.waits(p.err, "listening on tcp:"), "tcp:")
	p.waits(p.err, "ready: ")
	note := filepath.Join(folder, "members/gorilla", secretFile)
	return doors{address, "for member:panda", "gorilla", []string{secretWord, filepath.Join(folder, "members", "gorilla")},
		[]string{secretFile, note, "../gorilla/" + secretFile}}
}

// Hazard C05: with the token of a member, every route of a service with a council reaches its own memory and that of the council, and
// answers for another member's as for one that is not there.
func TestNoRouteReachesAnotherMember(t *testing.T) {
	t.Parallel()
	d := openCouncil(t)
	for agent, own := range map[string]string{"panda": "its doubts", "council": "has read it"} {
		if _, answer := d.get(t, d.token, http.MethodGet, "/v1/search?query=Zanzibar+treaty&agent="+agent, nil); !strings.Contains(answer, own) {
			t.Errorf("the member does not read the memory of %s: %s", agent, answer)
		}
	}
	d.checkRoutes(t)
}

// Hazard C05: by gRPC, every method of every service with the token of a member.
func TestNoServiceReachesAnotherMember(t *testing.T) {
	t.Parallel()
	openCouncil(t).checkServices(t)
}

// Each right opens its routes of the council and no others; a name in a right is the only one that it may speak for. A route that is new
// is a new line of the table (J01).
func TestCouncilRightsOfEachRoute(t *testing.T) {
	t.Parallel()
	d := openCouncil(t)
	var table strings.Builder
	line := func(cells []string) {
		fmt.Fprintln(&table, strings.TrimRight(fmt.Sprintf("%-67s%-8s%-7s%-6s%-8s%-7s%-14s%-14s%s", toAny(cells)...), " "))
	}
	head := []string{"route"}
	for _, c := range councilCallers {
		head = append(head, c.name)
	}
	line(head)
	byRoute := func(a, b op.Any) int { return strings.Compare(a.About().Route, b.About().Route) }
	for _, o := range slices.SortedFunc(slices.Values(server.Operations()), byRoute) {
		route := o.About()
		if !strings.HasPrefix(route.Right, "council") {
			continue
		}
		cells := []string{route.Route}
		for _, c := range councilCallers {
			if d.token = "for " + c.name; c.rights == "" {
				d.token = ""
			}
			cells = append(cells, d.mayUse(t, route, c.name))
		}
		line(cells)
	}
	file := "testdata/councilrights.txt"
	if *update {
		if err := os.WriteFile(file, []byte(table.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), table.String()); diff != "" {
		t.Errorf("rights have changed (-want +got); go test ./cmd/kioku -run CouncilRights -update writes the table:\n%s", diff)
	}
}

func toAny(cells []string) []any {
	all := make([]any, len(cells))
	for i, c := range cells {
		all[i] = c
	}
	return all
}

// mayUse returns "yes" if a caller may use a route, "own" if only in its own name, and "-" if not at all.
func (d doors) mayUse(t *testing.T, route op.About, caller string) string {
	t.Helper()
	if !d.may(t, route, caller, "panda", "buddy") {
		return "-"
	}
	names := members(route.In)
	if named := names["member"] || names["worker"] || names["requested_by"]; named && !d.may(t, route, caller, "gorilla", "other") {
		return "own"
	}
	return "yes"
}

// may reports whether a route is open to a caller in the name of a member or worker. A bridge says that an owner sends the request.
func (d doors) may(t *testing.T, route op.About, caller, member, worker string) bool {
	t.Helper()
	values := map[string]any{"member": member, "requested_by": member, "worker": worker, "id": "task_1", "file": "a", "platform": "discord", "lease": "none"}
	if caller == "owner" && !strings.Contains(route.Route, "{worker}") {
		delete(values, "worker") // an owner reports in its own name
	}
	if _, platform, is := strings.Cut(caller, "bridge:"); is {
		values["sender"] = map[string]string{"platform": platform, "user_id": "4711"}
	}
	code, answer := d.askOperation(t, route, values)
	if !slices.Contains([]int{http.StatusOK, http.StatusBadRequest, http.StatusNotFound, http.StatusConflict, http.StatusForbidden, http.StatusUnauthorized, http.StatusPreconditionFailed}, code) {
		t.Errorf("%s for %s: %d %s", route.Route, caller, code, answer)
	}
	return code != http.StatusForbidden && code != http.StatusUnauthorized
}
