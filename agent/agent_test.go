package agent_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"kioku/agent"
	"kioku/agent/chat"
	"kioku/llm"
	"kioku/llm/echo"
	"kioku/llm/llmtest"
	"kioku/memory"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// home is a workspace with one note, and a home for the state.
func home(t *testing.T) (workspace string) {
	t.Helper()
	workspace = t.TempDir()
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	if err := os.WriteFile(filepath.Join(workspace, "MEMORY.md"), []byte("# Memory\n\n- Mia drinks green tea.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return workspace
}

func open(t *testing.T, opt agent.Options) *agent.Agent {
	t.Helper()
	a, err := agent.Open(t.Context(), opt)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func closed(t *testing.T, a *agent.Agent) {
	t.Helper()
	if err := a.Close(); err != nil {
		t.Error(err)
	}
}

// notes are all daily notes of a workspace.
func notes(t *testing.T, workspace string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(workspace, "memory", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(text)
	}
	return all.String()
}

// One call makes an agent that remembers: what is said in a conversation that ends early is recalled in the next one.
func TestNewRemembersAConversationThatEndsEarly(t *testing.T) {
	workspace := home(t)
	first, err := agent.New(workspace, &echo.Model{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := first.Turn(t.Context(), "My locker combination is 4-17-32.", nil); err != nil {
		t.Fatal(err)
	}
	closed(t, first)
	if got := notes(t, workspace); strings.Count(got, "4-17-32") != 1 {
		t.Fatalf("the notes are %s", got)
	}
	second, err := agent.New(workspace, &echo.Model{})
	if err != nil {
		t.Fatal(err)
	}
	defer closed(t, second)
	reply, err := second.Turn(t.Context(), "What is my locker combination?", nil)
	if err != nil || !strings.Contains(reply.Text, "4-17-32") {
		t.Errorf("%q, %v", reply.Text, err)
	}
}

// Close is an end of the session: the model is told that it has ended, and the session does not count as left open. One whose process
// was killed does, and the next agent of the workspace stores it, although its session is another one.
func TestCloseEndsTheSession(t *testing.T) {
	workspace := home(t)
	model := &llmtest.Script{Steps: []llmtest.Step{llmtest.Say("fine"), llmtest.Say("NO_REPLY")}}
	a := open(t, agent.Options{Workspace: workspace, Model: model})
	if _, err := a.Turn(t.Context(), "My cat is called Miso.", nil); err != nil {
		t.Fatal(err)
	}
	opened := records(t)
	closed(t, a)
	all := model.Requests()
	last := all[len(all)-1].Messages
	if said := last[len(last)-1].Text; !strings.Contains(said, "has ended") || strings.Contains(said, "compacted") {
		t.Errorf("the model is told %q", said)
	}
	if after := records(t); !strings.Contains(opened, `"open":true`) || strings.Contains(after, `"open":true`) {
		t.Errorf("the record was\n%s\nand is\n%s", opened, after)
	}
}

func TestOpenStoresWhatAKilledAgentHasLeft(t *testing.T) {
	workspace := home(t)
	failing := &llmtest.Script{Steps: []llmtest.Step{llmtest.Say("fine")}} // has no answer for the flush
	a := open(t, agent.Options{Workspace: workspace, Model: failing})
	if _, err := a.Turn(t.Context(), "My locker combination is 4-17-32.", nil); err != nil {
		t.Fatal(err)
	}
	if err := a.Close(); err == nil || strings.Contains(notes(t, workspace), "4-17-32") {
		t.Fatalf("it was stored: %v", err)
	}
	closed(t, open(t, agent.Options{Workspace: workspace, Model: &echo.Model{}}))
	if got := notes(t, workspace); strings.Count(got, "4-17-32") != 1 {
		t.Errorf("the notes are %s", got)
	}
}

// records are the records of the flushes in the state folder.
func records(t *testing.T) (all string) {
	t.Helper()
	err := filepath.WalkDir(os.Getenv("XDG_STATE_HOME"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Base(filepath.Dir(path)) != "flush" {
			return err
		}
		text, err := os.ReadFile(path)
		all += string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// A loop of one's own, with the same model, sees what Turn sees: recall, the tools and their results, and a session that goes on.
func TestLoopOfOnesOwnRemembers(t *testing.T) {
	workspace := home(t)
	model := &echo.Model{}
	a := open(t, agent.Options{Workspace: workspace, Model: model, Session: "mine"})
	messages := converse(t, a, model, nil, "remember that the ferry leaves from Uno")
	if text := messages[len(messages)-1].Text; !strings.Contains(notes(t, workspace), "ferry") {
		t.Errorf("nothing was stored: %s", text)
	}
	closed(t, a)
	a = open(t, agent.Options{Workspace: workspace, Model: model, Session: "mine"})
	messages = converse(t, a, model, messages, "What does Mia drink?")
	if text := messages[len(messages)-1].Text; !strings.Contains(text, "green tea") {
		t.Errorf("answered %q", text)
	}
	if _, err := a.Before(t.Context(), messages[:2]); !errors.Is(err, chat.ErrOtherConversation) {
		t.Errorf("fewer messages: %v", err)
	}
	changed := append([]llm.Message(nil), messages...)
	changed[len(changed)-1].Text = "Something else."
	if _, err := a.Before(t.Context(), append(changed, llm.Message{Role: llm.RoleUser, Text: "so?"})); !errors.Is(err, chat.ErrOtherConversation) {
		t.Errorf("another conversation: %v", err)
	}
	if _, err := a.Before(t.Context(), append(messages, llm.Message{Role: llm.RoleUser, Text: " \n"})); !errors.Is(err, chat.ErrBlank) {
		t.Errorf("a blank message: %v", err)
	}
	closed(t, a)
}

// converse is such a loop.
func converse(t *testing.T, a *agent.Agent, model llm.Model, messages []llm.Message, say string) []llm.Message {
	t.Helper()
	messages = append(messages, llm.Message{Role: llm.RoleUser, Text: say})
	for range 10 {
		req, err := a.Before(t.Context(), messages)
		if err != nil {
			t.Fatal(err)
		}
		reply, err := model.Generate(t.Context(), req, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := a.After(reply); err != nil {
			t.Fatal(err)
		}
		messages = append(messages, reply.Message)
		if len(reply.Message.ToolCalls) == 0 {
			return messages
		}
		for _, call := range reply.Message.ToolCalls {
			messages = append(messages, a.Call(t.Context(), call))
		}
	}
	t.Fatal("the model does not come to an end")
	return nil
}

// Two agents of one workspace share the memory that the first one keeps; one that would open it a second time is told so.
func TestSecondAgentSharesTheMemoryOfTheFirst(t *testing.T) {
	workspace := home(t)
	first := open(t, agent.Options{Workspace: workspace, Model: &echo.Model{}})
	if _, err := agent.New(workspace, &echo.Model{}); !errors.Is(err, memory.ErrLocked) || !strings.Contains(err.Error(), "as Options.Memory") {
		t.Errorf("a second owner: %v", err)
	}
	second := open(t, agent.Options{Workspace: workspace, Model: &echo.Model{}, Memory: first.Memory()})
	if _, err := second.Memory().Append(t.Context(), memory.Note{Text: "The kiln is fired on Mondays."}); err != nil {
		t.Error(err)
	}
	// The first agent's watch indexes what others wrote.
	for begun := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		answer, err := first.Memory().Search(t.Context(), memory.Query{Text: "When is the kiln fired?"})
		if err != nil || time.Since(begun) > 2*time.Minute {
			t.Fatalf("the note is not found: %v", err)
		}
		if len(answer.Hits) > 0 && strings.Contains(answer.Hits[0].Snippet, "Mondays") {
			break
		}
	}
	if reply, err := first.Turn(t.Context(), "When is the kiln fired?", nil); err != nil || !strings.Contains(reply.Text, "Mondays") {
		t.Errorf("%q, %v", reply.Text, err)
	}
	closed(t, second)
	closed(t, first)
}

// What is missing or wrong is said, and nothing stays open.
func TestOpenSaysWhatIsMissing(t *testing.T) {
	workspace := home(t)
	for name, opt := range map[string]agent.Options{
		"no workspace":      {Model: &echo.Model{}},
		"no model":          {Workspace: workspace},
		"no such folder":    {Workspace: filepath.Join(workspace, "gone"), Model: &echo.Model{}},
		"an id of no agent": {Workspace: workspace, Model: &echo.Model{}, ID: "No Agent"},
		"a wrong session":   {Workspace: workspace, Model: &echo.Model{}, Session: "../up"},
	} {
		if a, err := agent.Open(t.Context(), opt); err == nil {
			t.Errorf("%s: opened", name)
			a.Close()
		}
	}
}
