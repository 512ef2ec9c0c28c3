package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"kioku/agent/session"
	"kioku/cmd/kioku/internal/render"
	"kioku/memory"
)

// chat runs a chat with the scripted model over lines of input.
func (s *sandbox) chat(lines []string, args ...string) outcome {
	s.t.Helper()
	s.stdin = strings.Join(lines, "\n") + "\n"
	return s.run(append([]string{"chat", "--echo"}, args...)...)
}

// shows fails unless a chat ended with a code and showed all of these, a text that begins with "· " or "kioku: " on
// standard error and any other on either output.
func (o outcome) shows(t *testing.T, code int, texts ...string) {
	t.Helper()
	if o.code != code {
		t.Errorf("exit %d, want %d: %s", o.code, code, o.stderr)
	}
	for _, text := range texts {
		where := o.stdout + o.stderr
		if strings.HasPrefix(text, "· ") || strings.HasPrefix(text, "kioku: ") {
			where = o.stderr
		}
		if !strings.Contains(where, text) {
			t.Errorf("it lacks %q:\n%s\n%s", text, o.stdout, o.stderr)
		}
	}
}

func TestChatRecallsNotesInThreeLanguages(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, notes())
	got := s.chat([]string{"What is the task runner called?", "大阪のホテルのチェックインは何時?", "苹果放在哪里?"})
	got.shows(t, exitOK,
		"I recall from MEMORY.md: ", "tanuki",
		"memory/2026-01-12.md#L", "チェックインは午後三時", "地下室",
		"· agent main, model echo with a window of 200,000 tokens\n",
		"· memory "+s.workspace+": 3 files, ",
		", a new one\n", "· recalled but left out: MEMORY.md#L",
	)
}

func TestChatKnowsInTheNextTurnWhatItWasToldToRemember(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, notes())
	got := s.chat([]string{"Remember that the heron sleeps in the reeds.", "Where does the heron sleep?"})
	got.shows(t, exitOK, "I have remembered it in memory/", "the heron sleeps in the reeds", "· memory_append text=", "· recalled 1 memory: memory/")
	if n := strings.Count(s.days(), "the heron sleeps in the reeds"); n != 1 {
		t.Errorf("today's file holds it %d times: %s", n, s.days())
	}
}

func TestChatKeepsAFactThroughFlushCompactionAndRestart(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, notes())
	lines := []string{"My locker number is K-4711 in the north hall.", "Remember that Ines prefers mail.", "How does Ines like to be reached?"}
	for _, animal := range strings.Fields("heron otter badger lynx marten stork crane newt viper toad perch pike") {
		lines = append(lines, "Today I saw a "+animal+" beside the long river, and it was "+strings.Repeat("very ", 60)+"calm.")
	}
	got := s.chat(append(lines, "/status"), "--window", "4000")
	got.shows(t, exitOK, "· flush done: stored ", "· compacted: a summary replaces the old messages, ", "window     ", " of 4,000 tokens")
	if strings.Count(got.stderr, "flush done") < strings.Count(got.stderr, "compacted:") {
		t.Errorf("compacted without a flush:\n%s", got.stderr)
	}
	if !strings.Contains(s.days(), "K-4711") {
		t.Errorf("the fact is in no file:\n%s", s.days())
	}
	again := s.chat([]string{"What is my locker number?"}, "--continue", "--window", "4000")
	again.shows(t, exitOK, "K-4711", " continues with ", ", the first of them a summary\n")
}

// Hazard F06: 40 facts in a small window and no fault: each is in a note, or the model is still sent it.
func TestChatKeepsFortyFactsInASmallWindow(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, notes())
	var lines, facts []string
	for i := range 40 {
		facts = append(facts, fmt.Sprintf("The key of locker %d hangs on hook %d", 100+i, 900-i))
		lines = append(lines, facts[i]+". It is calm by the long river today, and the herons sleep.")
	}
	got := s.chat(lines, "--session", "forty", "--window", "3000")
	got.shows(t, exitOK, "· flush done: stored ", "· compacted: ")
	folder, err := session.Folder(s.own(), "main")
	if err != nil {
		t.Fatal(err)
	}
	transcript, _, err := session.Open(folder, "forty", session.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer transcript.Close()
	have := s.days()
	for _, m := range transcript.View().Messages {
		have += m.Text
	}
	for _, fact := range facts {
		if !strings.Contains(have, fact) {
			t.Errorf("lost: %s", fact)
		}
	}
}

func TestChatCommandsAnswerAndAreNotSentToTheModel(t *testing.T) {
	t.Parallel()
	files := notes()
	files["SOUL.md"] = "You are patient.\n"
	files["skills/brew/SKILL.md"] = "---\nname: brew\ndescription: How to make tea.\n---\nBoil water.\n"
	files["skills/broken/SKILL.md"] = "no front matter\n"
	s := newSandbox(t, files)
	p := newProvider(t)
	var lines []string
	help := s.chat([]string{"/help"}).stdout
	for _, m := range regexp.MustCompile(`(?m)^/(\w+)`).FindAllStringSubmatch(help, -1) {
		if argument := map[string]string{"search": " boiler", "prompt": " boiler pressure"}[m[1]]; m[1] != "exit" {
			lines = append(lines, "/"+m[1]+argument)
		}
	}
	if len(lines) != 12 {
		t.Errorf("/help shows %q", lines)
	}
	s.stdin = strings.Join(append(lines, "/Quit", "never read"), "\n")
	got := s.run(append([]string{"chat"}, p.flags()...)...)
	got.shows(t, exitOK,
		"You are patient.\n", "brew  How to make tea.\n", "left out: broken", "The task runner is called tanuki.\n", "· the memory contains ",
		" 1. ", "## Personality\n", "<recalled-memories id=", "SOUL.md              17        16\n", "IDENTITY.md           0         0  missing\n",
		"window     ", "thresholds memories are stored at ", "· nothing to compact", "· flush skipped: nothing was said since the last flush\n",
		"/search QUERY        search the memory\n", "* ", "· session ",
	)
	if asked := p.asked(); len(asked) > 0 {
		t.Errorf("the model was asked %+v", asked)
	}
}

func TestChatCommandThatIsWrongFails(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, notes())
	for line, want := range map[string]string{
		"/serach boiler": "there is no /serach; did you mean /search?",
		"/comp":          "there is no /comp; did you mean /compact?",
		"/etc/hosts":     "there is no /etc/hosts; /help shows all commands, and a message that begins with a slash is written with two",
		"/search":        "write what to look for after /search",
		"/status now":    "/status takes no argument",
		"/session ../x":  `session "../x" is no valid id`,
	} {
		t.Run(line, func(t *testing.T) {
			got := s.chat([]string{line})
			got.shows(t, exitError, "kioku: "+want, "kioku: 1 line of the chat failed\n")
			if got.stdout != "" {
				t.Errorf("it shows %q", got.stdout)
			}
		})
	}
	s.chat([]string{"//etc/hosts is what?"}).shows(t, exitOK, "You said: /etc/hosts is what?")
}

func TestChatWithoutAModelSaysHowToGetOne(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, notes())
	got := s.run("chat")
	got.wants(t, exitError, "no language model is set: --echo", "llm.provider")
	s.run("chat", "--echo", "--new", "--continue").wants(t, exitUsage, "exclude each other")
	s.run("chat", "--echo", "--session", "../x").wants(t, exitUsage, "is no valid id")
	s.run("chat", "--echo", "--window", "-1").wants(t, exitUsage, "--window is -1")
	s.run("chat", "--echo", "--tools", "hammer").wants(t, exitUsage, `--tools is "hammer"`)
	s.run("chat", "--echo", "--tools", "claude", "--read-only").wants(t, exitUsage, "--read-only forbids")
	s.run("chat", "--set", "llm.provider=openai").wants(t, exitUsage, "llm.apiKey")
}

func TestChatContinuesSessions(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, notes())
	s.chat([]string{"/help"}, "--continue").shows(t, exitOK, ", a new one\n")
	s.chat([]string{"hello there"}, "--session", "first").shows(t, exitOK, "· session first, a new one\n")
	s.chat([]string{"/help"}).shows(t, exitOK, ", a new one\n")
	s.chat([]string{"and again", "/new", "/session first", "/session"}, "--continue").shows(t, exitOK,
		"· session first continues with 2 messages\n", "· session first continues with 4 messages\n", "* first")
	folder, err := session.Folder(s.own(), "main")
	if err != nil {
		t.Fatal(err)
	}
	if list, err := session.List(folder); err != nil || len(list) != 1 {
		t.Errorf("sessions in which nothing was said are left: %v, %v", list, err)
	}
}

func TestChatReportsATornTranscript(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, notes())
	s.chat([]string{"hello there"}, "--session", "torn").shows(t, exitOK)
	path := filepath.Join(s.own(), "agents", "main", "sessions", "torn.jsonl")
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString("nonsense\n{\"id\":\"half"); err != nil {
		t.Fatal(err)
	}
	f.Close()
	s.chat([]string{"/status"}, "--session", "torn").shows(t, exitOK,
		"kioku: the last line of the transcript was cut off (11 bytes) and is moved to torn.jsonl.torn\n", "kioku: the transcript continues without its line 5: ", "· session torn continues with 2 messages\n")
}

func TestChatGoesOnAfterARefusedLine(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, notes())
	got := s.chat([]string{"hello \xff", strings.Repeat("x", render.MaxTextBytes+1), "remember that the tea is in the tin"})
	got.shows(t, exitError, "kioku: line 1 of standard input is not valid UTF-8", "kioku: line 2 of standard input is longer than 1048576 bytes",
		"I have remembered it in memory/", "kioku: 2 lines of the chat failed\n")
}

// write sends a line to a process.
func (p *process) write(line string) {
	p.t.Helper()
	if _, err := io.WriteString(p.in.(io.Writer), line+"\n"); err != nil {
		p.t.Fatal(err)
	}
}

func TestChatInterruptCancelsTheTurn(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, notes())
	gone := make(chan struct{})
	model := newProvider(t, hangs("Let me think\n", gone), says("Back again."))
	p := s.start(append([]string{"chat"}, model.flags()...)...)
	p.waits(p.err, "/help")
	p.write("a hard question")
	p.waits(p.out, "Let me think")
	p.signal(os.Interrupt)
	p.waits(p.err, "· canceled; the conversation continues")
	<-gone
	p.write("an easy one")
	p.waits(p.out, "Back again.")
	p.in.Close()
	if code, _ := p.ends(); code != exitError {
		t.Errorf("exit %d, although a line was not answered", code)
	}
	asked := model.asked()
	var said []string
	for _, m := range asked[1].Messages {
		said = append(said, memory.StripRecalled(m.Content))
	}
	if text := strings.Join(said, "\n"); !strings.Contains(text, "a hard question") || !strings.Contains(text, "Let me think") {
		t.Errorf("what was said before is lost: %s", text)
	}
}

func TestChatEndsAtASignal(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, notes())
	for sig, want := range map[syscall.Signal]int{syscall.SIGTERM: 143, syscall.SIGINT: 130} {
		p := s.start("chat", "--echo")
		p.waits(p.err, "/help")
		p.signal(sig)
		if code, took := p.ends(); code != want || took > patience/2 {
			t.Errorf("%v: exit %d after %s", sig, code, took)
		}
	}
	gone := make(chan struct{})
	model := newProvider(t, hangs("Let me think\n", gone))
	p := s.start(append([]string{"chat"}, model.flags()...)...)
	p.write("a hard question")
	p.waits(p.out, "Let me think")
	p.signal(syscall.SIGTERM)
	if code, _ := p.ends(); code != 143 {
		t.Errorf("in a turn: exit %d", code)
	}
	<-gone
}

func TestChatKnowsANoteWrittenByHandInTheNextTurn(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, notes())
	p := s.start("chat", "--echo")
	p.write("Where is the lighthouse?")
	p.waits(p.out, "I recall nothing about that")
	s.write("memory/2026-01-14.md", "# 2026-01-14\n\nThe lighthouse stands at Cape Hoku.\n")
	p.write("Where is the lighthouse?")
	p.waits(p.out, "Cape Hoku")
	p.in.Close()
	if code, _ := p.ends(); code != exitOK {
		t.Errorf("exit %d: %q", code, p.said)
	}
}

func TestChatUsesTheMemoryOfADaemon(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, notes())
	daemon, _ := s.serve()
	got := s.chat([]string{"Remember that the heron sleeps in the reeds.", "Where does the heron sleep?", "/prompt heron"})
	got.shows(t, exitOK, "the heron sleeps in the reeds", "· memory "+s.workspace)
	s.stdin = "Where does the heron sleep?\n"
	bare := s.raw("chat", "--echo", "--state", s.state)
	bare.shows(t, exitOK, "the heron sleeps in the reeds")
	refused := s.chat([]string{"Remember that it snows."}, "--read-only")
	refused.shows(t, exitOK, "· the memory is open read-only: nothing can be stored\n", "→ failed: ")
	if strings.Contains(s.days(), "it snows") {
		t.Errorf("it was stored all the same: %s", s.days())
	}
	daemon.terminates()
}

// A chat that asks another one takes the index over when that one ends, and its tools go on.
func TestChatGoesOnWhenTheOwnerOfTheIndexEnds(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, notes())
	first := s.start("chat", "--echo")
	first.write("Remember that heron 1 sleeps in the reeds.")
	first.waits(first.out, "I have remembered it")
	second := s.start("chat", "--echo")
	second.write("Where does heron 1 sleep?")
	second.waits(second.out, "in the reeds")
	first.in.Close()
	first.ends()
	second.write("Remember that heron 2 sleeps in the reeds.")
	second.waits(second.out, "I have remembered it")
	second.in.Close()
	second.ends()
}

func TestChatsThatStartAtOnceStoreEverything(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, notes())
	var all []*process
	for i := range 3 {
		p := s.start("chat", "--echo")
		p.write(fmt.Sprintf("Remember that heron %d sleeps in the reeds.", i))
		all = append(all, p)
	}
	for _, p := range all {
		p.waits(p.out, "I have remembered it")
		p.in.Close()
		if code, _ := p.ends(); code != exitOK {
			t.Errorf("exit %d: %q", code, p.said)
		}
	}
	for i := range all {
		if n := strings.Count(s.days(), fmt.Sprintf("heron %d sleeps", i)); n != 1 {
			t.Errorf("heron %d is there %d times: %s", i, n, s.days())
		}
	}
}

func TestChatTakesOverTheIndexOfAnother(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, notes())
	first, second := s.start("chat", "--echo"), (*process)(nil)
	first.waits(first.err, "/help")
	second = s.start("chat", "--echo")
	second.waits(second.err, "/help")
	second.write("Remember that the heron sleeps in the reeds.")
	second.waits(second.out, "I have remembered it")
	s.must("append", "The otter is called Ume.")
	for _, note := range []string{"the heron sleeps in the reeds", "The otter is called Ume."} {
		if n := strings.Count(s.days(), note); n != 1 {
			t.Errorf("%q is there %d times: %s", note, n, s.days())
		}
	}
	first.in.Close()
	first.ends()
	s.write("memory/2026-01-14.md", "# 2026-01-14\n\nThe lighthouse stands at Cape Hoku.\n")
	second.write("Where is the lighthouse?")
	second.waits(second.out, "Cape Hoku")
	second.in.Close()
	if code, _ := second.ends(); code != exitOK {
		t.Errorf("exit %d: %q", code, second.said)
	}
}

func TestChatSessionIsNotShared(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, notes())
	s.serve()
	p := s.start("chat", "--echo", "--session", "mine")
	p.waits(p.err, "/help")
	s.chat([]string{"hello"}, "--session", "mine").shows(t, exitError, "kioku: open session mine: session is in use")
	s.chat([]string{"hello"}, "--session", "yours").shows(t, exitOK)
}

// The private part of a memory stays out of the prompt of a group.
func TestChatInAGroupHidesMEMORY(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, notes())
	for _, args := range [][]string{{"--group"}, {"--channel", "discord"}} {
		got := s.chat([]string{"/prompt What is the task runner called?", "What is the task runner called?"}, args...)
		got.shows(t, exitOK, "I recall nothing about that")
		if strings.Contains(got.stdout, "tanuki") {
			t.Errorf("%q: it is in the prompt: %s", args, got.stdout)
		}
	}
	s.chat([]string{"What is the task runner called?"}, "--channel", "discord", "--group=false").shows(t, exitOK, "tanuki")
}

// Hazard C05: in a group a model cannot look up what is private, and can still remember.
func TestChatInAGroupRefusesSearches(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, notes())
	alone := []string{"search task runner"}
	s.chat(alone).shows(t, exitOK, "· memory_search query=", "tanuki")
	got := s.chat(append(alone, "remember that the heron sleeps in the reeds"), "--channel", "discord")
	got.shows(t, exitOK, "· this is a conversation of a group", "I recall nothing about that", "I have remembered it in memory/")
	p := newProvider(t, calls("memory_search", `{"query":"task runner"}`), calls("memory_get", `{"path":"MEMORY.md"}`), says("I cannot look it up."))
	s.stdin = "What is the task runner called?\n"
	hostile := s.run(append([]string{"chat", "--channel", "discord"}, p.flags()...)...)
	hostile.shows(t, exitOK, "I cannot look it up.", "· memory_search query=\"task runner\" → failed: ", "· memory_get path=\"MEMORY.md\" → failed: ")
	asked := p.asked()
	if len(asked) != 3 || len(asked[0].Tools) != 1 || asked[0].Tools[0].Function.Name != "memory_append" {
		t.Errorf("asked %+v", asked)
	}
	if all := fmt.Sprint(got, hostile, asked); strings.Contains(all, "tanuki") {
		t.Errorf("private memory is shown: %s", all)
	}
	s.run("chat", "--echo", "--tools", "memory,claude", "--channel", "slack").wants(t, exitUsage, "--tools claude", "--group=false")
	s.run("chat", "--echo", "--tools", "claude", "--group").wants(t, exitUsage, "--tools claude")
	s.chat([]string{"/help"}, "--tools", "claude", "--channel", "slack", "--group=false").shows(t, exitOK)
}
