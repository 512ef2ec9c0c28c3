package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kioku/internal/testkit"
)

// copyModel copies a small model of embed/local/testdata ("static", "transformer", "cross") into dir.
func copyModel(t *testing.T, dir, name string) {
	t.Helper()
	testkit.Must(t, os.CopyFS(dir, os.DirFS("../../embed/local/testdata/"+name)))
}

// laptopNotes are notes that the small trained model of embed/local/testdata knows the words of.
func laptopNotes() map[string]string {
	return map[string]string{
		"MEMORY.md":  "# Memory\n",
		"power.md":   "# Power\n\nRun caffeinate so that the screen stays on and the battery drains.\n",
		"shop.md":    "# Shop\n\nReimbursement: support cancels the order and the invoice.\n",
		"kitchen.md": "# Kitchen\n\nBoil the pasta in salted water, fry garlic in olive oil.\n",
	}
}

// staticModel writes a small trained model into a folder of this name.
func staticModel(t *testing.T, name string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), name)
	testkit.Must(t, os.Mkdir(dir, 0o700))
	copyModel(t, dir, "static")
	return dir
}

// From nothing: kioku model add, kioku index, and a question in other words is answered if words alone fail.
func TestModelAddAnswersQuestionsInOtherWords(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, laptopNotes())
	s.write(".kioku.yaml", "include: ['*.md']\n")
	const question = "keep my macbook awake"
	s.must("index")
	if got := s.run("search", question); strings.Contains(got.stdout, "caffeinate") {
		t.Fatalf("words alone find it: %s", got.stdout)
	}
	added := s.must("model", "add", staticModel(t, "tiny"))
	if !strings.Contains(added, "Added tiny: static, ") || !strings.Contains(added, "It embeds the notes from now on") {
		t.Errorf("%s", added)
	}
	s.must("index")
	if got := s.must("search", question, "--min-score", "0", "--max-results", "1"); !strings.Contains(got, "caffeinate") {
		t.Errorf("%s", got)
	}
	if got := s.must("status"); !strings.Contains(got, "provider   local tiny, ") || !strings.Contains(got, "(the first local model that was added)") {
		t.Errorf("status does not say which provider and why: %s", got)
	}
	if got := s.must("config", "list"); !strings.Contains(got, "default; now local: the first local model that was added") {
		t.Errorf("config does not say which provider and why: %s", got)
	}
}

// model list, use, remove and check.
func TestModelCommands(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, laptopNotes())
	s.env = append(s.env, "XDG_CONFIG_HOME="+s.home)
	if got := s.must("model", "list"); !strings.Contains(got, "kioku model add minilm") {
		t.Errorf("%s", got)
	}
	if got := s.must("model", "list", "--known"); !strings.Contains(got, "multilingual-e5-small") || !strings.Contains(got, "MIT") {
		t.Errorf("%s", got)
	}
	dir := staticModel(t, "tiny")
	s.must("model", "add", dir)
	if got := s.must("model", "add", dir, "--name", "second"); !strings.Contains(got, "kioku model use second") {
		t.Errorf("%s", got)
	}
	s.run("model", "add", dir).wants(t, exitUsage, "there is a model of this name; --replace replaces it")
	s.must("model", "add", dir, "--replace")
	s.run("model", "use", "secnd").wants(t, exitUsage, "did you mean second?")
	s.run("model", "use", "second").wants(t, exitOK, "local.model is second in ")
	if got := s.must("config", "get", "local.model"); got != "second\n" {
		t.Errorf("%s", got)
	}
	list := s.must("model", "list")
	for line := range strings.Lines(list) {
		if strings.HasSuffix(line, "used\n") != strings.HasPrefix(line, "second ") {
			t.Errorf("%s", list)
		}
	}
	if got := s.must("model", "check"); !strings.Contains(got, "second: its files are as they were") || !strings.Contains(got, "a second on this machine") {
		t.Errorf("%s", got)
	}
	s.run("model", "remove", "second").wants(t, exitOK, "second is removed", "local.model still names it")
	s.run("model", "remove", "second").wants(t, exitUsage, "there is no such model")
}

func TestModelUseOfAFolder(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, laptopNotes())
	dir := staticModel(t, "tiny")
	s.must("model", "add", dir)
	s.must("model", "add", dir, "--name", "second")
	s.run("model", "use", "--folder", "second").wants(t, exitOK, ".kioku.yaml")
	if got := s.must("status"); !strings.Contains(got, "local.model is set by "+filepath.Join(s.workspace, ".kioku.yaml")) {
		t.Errorf("%s", got)
	}
}

func TestModelUseEndsAnotherProvider(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, laptopNotes())
	s.must("model", "add", staticModel(t, "tiny"))
	s.must("config", "set", "provider", "none")
	s.run("model", "use", "--folder", "tiny").wants(t, exitOK, "it has no effect while provider is none")
	s.run("model", "use", "tiny").wants(t, exitOK, "provider was none and is local now")
	if got := s.must("status"); !strings.Contains(got, "local tiny") {
		t.Errorf("%s", got)
	}
}

// A broken local model leaves words, said in degraded and doctor; never silent.
func TestABrokenLocalModelLeavesWords(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, laptopNotes())
	s.write(".kioku.yaml", "include: ['*.md']\n")
	s.must("model", "add", staticModel(t, "tiny"))
	s.must("index")
	testkit.Must(t, os.Remove(filepath.Join(s.state, "models", "tiny", "tiny", "model.safetensors")))
	got := s.run("search", "reimbursement invoice")
	if got.code != exitOK || !strings.Contains(got.stdout, "Reimbursement: support") || !strings.Contains(got.stderr, "degraded (provider_down)") {
		t.Errorf("%+v", got)
	}
	if got := s.must("status"); !strings.Contains(got, "provider_down") {
		t.Errorf("%s", got)
	}
	s.run("model", "check").wants(t, exitError, "model.safetensors is missing", "kioku model add --replace")
	if got := s.must("model", "list"); !strings.Contains(got, "broken") {
		t.Errorf("%s", got)
	}
}
