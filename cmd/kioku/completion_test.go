package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"kioku/internal/testkit"
)

// bashComplete runs bash with the completion script of kioku, as a login shell has it, and returns what Tab offers for a command line
// that begins with kioku. The last word is the one that is completed.
func (s *sandbox) bashComplete(words ...string) []string {
	s.t.Helper()
	bash, err := exec.LookPath("bash")
	if err != nil {
		s.t.Skip("there is no bash")
	}
	dir := filepath.Dir(program)
	var quoted []string
	for _, w := range append([]string{"kioku"}, words...) {
		quoted = append(quoted, "'"+w+"'")
	}
	script := fmt.Sprintf(`
[ -z "$BARE" ] && [ -r /usr/share/bash-completion/bash_completion ] && source /usr/share/bash-completion/bash_completion
source <(kioku completion bash)
COMP_WORDS=(%s)
COMP_CWORD=%d
COMP_LINE='kioku %s'
COMP_POINT=${#COMP_LINE}
COMP_TYPE=9
__start_kioku
printf '%%s\n' "${COMPREPLY[@]}"
`, strings.Join(quoted, " "), len(words), strings.Join(words, " "))
	cmd := exec.CommandContext(s.t.Context(), bash, "--norc", "--noprofile", "-c", script)
	cmd.Env = append(slices.Clone(s.env), "PATH="+dir+":"+os.Getenv("PATH"))
	cmd.Dir = s.home
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil || strings.Contains(stderr.String(), "not found") {
		s.t.Fatalf("bash: %v: %s", err, stderr.String())
	}
	var offered []string
	for line := range strings.Lines(string(out)) {
		word, _, _ := strings.Cut(strings.ReplaceAll(strings.TrimSpace(line), "\\", ""), " ")
		if word != "" {
			offered = append(offered, word)
		}
	}
	return offered
}

// Tab in bash completes paths, agents, the keys of settings and their values, models and providers.
func TestBashCompletes(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, notes())
	s.must("index")
	s.env = append(s.env, "KIOKU_STATE="+s.state, "KIOKU_WORKSPACE="+s.workspace, "KIOKU_AGENTS=nova=/n,ryo=/r")
	for _, tc := range []struct {
		line string
		want string
	}{
		{"sea", "search"},
		{"get memory/2026-01-1", "memory/2026-01-10.md memory/2026-01-12.md"},
		{"links MEM", "MEMORY.md"},
		{"search --agent n", "nova"},
		{"token add x --agents main,r", "main,ryo"},
		{"config set query.maxR", "query.maxResults"},
		{"config set provider mi", "mistral"},
		{"config set query.granularity ", "passage chunk"},
		{"config set offline ", "true false"},
		{"search --provider ol", "ollama"},
		{"search --log-level w", "warn"},
		{"search --set query.granularity=p", "passage"},
		{"search --provider openai --model text", "text-embedding-3-small"},
		{"append --to l", "long_term"},
		// Without the package bash-completion.
		{"BARE get memory/2026-01-1", "memory/2026-01-10.md memory/2026-01-12.md"},
		{"BARE config set query.granularity ", "passage chunk"},
		{"BARE search --set query.granularity=p", "passage"},
	} {
		s := *s
		if line, bare := strings.CutPrefix(tc.line, "BARE "); bare {
			tc.line, s.env = line, append(slices.Clone(s.env), "BARE=1")
		}
		got := s.bashComplete(strings.Split(tc.line, " ")...)
		want := strings.Fields(tc.want)
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("kioku %s: bash offers %q, want %q", tc.line, got, want)
		}
	}
}

// The completion scripts of zsh and fish have no syntax errors.
func TestCompletionScriptsAreValid(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, nil)
	for _, shell := range []string{"bash", "zsh", "fish"} {
		path, err := exec.LookPath(shell)
		if err != nil {
			t.Logf("there is no %s", shell)
			continue
		}
		file := filepath.Join(t.TempDir(), "script")
		testkit.Must(t, os.WriteFile(file, []byte(s.raw("completion", shell).stdout), 0o600))
		if out, err := exec.CommandContext(t.Context(), path, "-n", file).CombinedOutput(); err != nil {
			t.Errorf("%s: %v: %s", shell, err, out)
		}
	}
}
