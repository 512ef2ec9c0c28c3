package browser

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// councilServed creates a council of the template soul with a worker, and serves it with a scripted model until the test ends.
func councilServed(t *testing.T) *daemon {
	t.Helper()
	home := t.TempDir()
	d := &daemon{dir: filepath.Join(home, "council"), bin: kiokuBin(t)}
	d.env = []string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "XDG_STATE_HOME=" + home + "/state", "XDG_CONFIG_HOME=" + home + "/config", "XDG_RUNTIME_DIR=" + home}
	d.council(t, "init", d.dir)
	settings := filepath.Join(d.dir, "council.yaml")
	text, err := os.ReadFile(settings)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(settings, append(text, "workers: [buddy]\n"...), 0o600); err != nil {
		t.Fatal(err)
	}
	d.args = []string{"council", "serve", "--echo", "--folder", d.dir}
	d.start(t)
	t.Cleanup(d.stop)
	return d
}

// council runs kioku council and returns what it writes.
func (d *daemon) council(t *testing.T, args ...string) string {
	t.Helper()
	cmd := exec.Command(d.bin, append([]string{"council", "--folder", d.dir}, args...)...)
	cmd.Env = d.env
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if exit := (*exec.ExitError)(nil); err != nil && (!errors.As(err, &exit) || exit.ExitCode() < 4) {
		t.Fatalf("kioku council %s: %v\n%s", strings.Join(args, " "), err, said.String())
	}
	return string(out)
}

// Without a council the page says how to get one.
func TestCouncilIsOff(t *testing.T) {
	t.Parallel()
	b := newTab(t, serve(t, sample))
	b.expectStatus(501)
	b.open("/council")
	b.wait(`document.querySelector(".empty")`)
	b.wantText("No council is served here", "kioku council init --template soul")
}

// A task that is submitted on the page is discussed live: ballots appear without a reload, then the decision with its steps.
func TestCouncilDecidesATaskOfThePage(t *testing.T) {
	t.Parallel()
	b := newTab(t, councilServed(t)).open("/council")
	b.wait(`document.querySelectorAll(".seat").length === 3 && document.querySelector("#new-task")`)
	eval[any](b, `(() => { document.querySelector("#new-task [name=title]").value = "会議室を予約する <img src=x onerror=alert(1)>";
		document.querySelector("#new-task [name=type]").value = "task"; document.querySelector("#new-task form").requestSubmit(); return true })()`)
	b.wait(`document.querySelector(".tasks a")?.textContent.includes("会議室")`)
	b.click(".tasks a")
	b.wait(`document.querySelectorAll(".ballot").length >= 3 && document.querySelector("#announcement")`)
	b.wantText("会議室を予約する <img src=x onerror=alert(1)>", "approved", "by the council", "Round 1", "Announcement")
	if step := eval[string](b, `document.querySelector(".stepper [aria-current]").textContent`); step != "Executing" {
		t.Errorf("the step is %q: a person has to report", step)
	}
	b.click(".acts .primary")
	eval[any](b, `(() => { document.querySelector(".council form.row input").value = "booked for Monday"; document.querySelector(".council form.row").requestSubmit(); return true })()`)
	b.wait(`document.querySelector(".result")?.textContent.includes("booked for Monday") && !document.querySelector(".stepper [aria-current]")`)
}

// A task that only the command line knows appears without a reload, and a stalled one says so above everything.
func TestCouncilShowsWhatIsDegraded(t *testing.T) {
	t.Parallel()
	d := councilServed(t)
	b := newTab(t, d).open("/council")
	d.council(t, "ask", "--description", "echo: panda=approve gorilla=reject triceratops=silent arbiter=approve", "Shall we paint the shed?")
	b.wait(`[...document.querySelectorAll(".tasks tr")].some(r => r.textContent.includes("paint the shed") && r.textContent.includes("degraded"))`)
	b.click(".tasks a")
	b.wait(`document.querySelector("#degraded")?.textContent.includes("No majority after round 3")`)
	b.wantText("by the arbiter", "No majority after round", "Dissent of gorilla", "abstains: malformed")
}

// The sliders set parameters, which can be taken back.
func TestCouncilSliders(t *testing.T) {
	t.Parallel()
	d := councilServed(t)
	b := newTab(t, d).open("/council?part=members")
	b.wait(`document.querySelectorAll(".slider input").length === 15`)
	eval[any](b, `(() => { const s = document.getElementById("panda-risk_tolerance"); s.value = 0.35; s.dispatchEvent(new Event("input")); s.dispatchEvent(new Event("change")); return true })()`)
	b.wait(`document.getElementById("announce").textContent.includes("is 0.35")`)
	if got := d.council(t, "params", "get", "panda"); !strings.Contains(got, "risk_tolerance: 0.2\n") || !strings.Contains(got, "risk_tolerance: 0.35\n") {
		t.Errorf("the parameters are %s", got)
	}
	b.open("/council?part=members")
	b.click("#member-panda summary")
	b.click("#member-panda details button")
	b.wait(`document.getElementById("panda-risk_tolerance").value === "0.2"`)
}

// A worker is paused and its suggestion becomes a task; evaluations start on the page; logs are shown.
func TestCouncilWorkersEvaluationsAndLogs(t *testing.T) {
	t.Parallel()
	d := councilServed(t)
	d.council(t, "ask", "Shall we water the plants?")
	d.council(t, "suggest", "buddy", "Buy a watering can")
	b := newTab(t, d).open("/council?part=workers")
	b.wait(`document.querySelector(".entry")?.textContent.includes("watering can")`)
	b.click(".seat .acts button")
	b.wait(`document.querySelector(".seat").textContent.includes("paused until")`)
	b.open("/council?part=evaluations")
	b.click(".council > p button")
	b.wait(`document.querySelectorAll(".entry tbody tr").length === 6`)
	b.open("/council?part=logs")
	b.wait(`document.querySelector(".log li")`)
}
