package engine

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"
	"time"

	"kioku/council"
	"kioku/council/flow"
	"kioku/internal/files"
	"kioku/internal/secrets"
	"kioku/internal/text"
	"kioku/memory"
)

// maxQuoted is the maximum number of characters of a quote in the memory of a decision.
const maxQuoted = 4_000

// remember writes a decision into the memory of the council agent. It does nothing if it is there already.
func (e *Engine) remember(s *flow.Snapshot, d *council.Decision) error {
	if e.opt.Workspace == "" || d == nil {
		return nil
	}
	if err := os.MkdirAll(e.opt.Workspace, 0o700); err != nil {
		return err
	}
	root, err := os.OpenRoot(e.opt.Workspace)
	if err != nil {
		return fmt.Errorf("workspace of the council agent: %w", err)
	}
	defer root.Close()
	want := []byte(Render(s, d))
	old, err := root.ReadFile(d.MemoryPath)
	if err == nil && bytes.Equal(old, want) {
		return nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := root.MkdirAll(path.Dir(d.MemoryPath), 0o700); err != nil {
		return err
	}
	return files.Write(root, d.MemoryPath, want, 0o600)
}

// Render returns a decision as Markdown for the memory of the council agent. What members and strangers have written stands in quotes, so
// that no line of it is a heading or front matter; secrets of known shapes are left out.
func Render(s *flow.Snapshot, d *council.Decision) string {
	var b strings.Builder
	frontMatter(&b, s, d)
	fmt.Fprintf(&b, "# %s: %s\n", heading(d), oneLine(s.Task.Title))
	for _, line := range d.Degraded {
		fmt.Fprintf(&b, "\n**Note:** %s\n", oneLine(line))
	}
	section(&b, "Question", s.Task.Title+"\n\n"+s.Task.Description)
	section(&b, "Approach", d.FinalApproach)
	why := d.Reasoning
	if d.Announcement != nil {
		why = strings.TrimSpace(d.Announcement.Summary + "\n\n" + bullets(d.Announcement.KeyPoints) + "\n\n" + why)
	}
	section(&b, "Why", why)
	for _, o := range d.Dissent {
		section(&b, "Dissent of "+o.Member+" ("+o.Vote+")", strings.TrimSpace(o.Opinion+"\n\n"+bullets(o.Concerns)))
	}
	votesSection(&b, s, d)
	if d.Outcome != "" {
		section(&b, "Outcome: "+d.Outcome, d.OutcomeNote)
	}
	sources(&b, s)
	clean, _ := secrets.Redact(b.String())
	return clean
}

// frontMatter writes the fields by which a decision is found. evergreen keeps it from fading as long as it is in force.
func frontMatter(b *strings.Builder, s *flow.Snapshot, d *council.Decision) {
	fmt.Fprintf(b, "---\ndate: %s\ntags: [decision, %s]\ntask: %s\ndecided_by: %s\n", d.DecidedAt.UTC().Format(time.DateOnly), d.Decision, d.TaskID, d.DecidedBy)
	if d.Supersedes != "" {
		fmt.Fprintf(b, "supersedes: %s\n", d.Supersedes)
	}
	if d.SupersededBy != "" {
		fmt.Fprintf(b, "superseded_by: %s\n", d.SupersededBy)
	} else if d.Decision == council.Approved {
		b.WriteString("evergreen: true\n")
	}
	if s.Task.Trust == council.TrustLow {
		b.WriteString("trust: low\n")
	}
	b.WriteString("---\n\n")
}

// heading says who has decided what.
func heading(d *council.Decision) string {
	word := strings.ToUpper(d.Decision[:1]) + d.Decision[1:]
	if d.SupersededBy != "" {
		word = "No longer in force (" + d.Decision + ", superseded by " + d.SupersededBy + ")"
	}
	switch d.DecidedBy {
	case council.ByArbiter:
		return word + " by the arbiter"
	case council.ByOwner:
		return word + " by an owner"
	}
	return word + " by the council"
}

// section writes a heading and a text in quotes; nothing if there is no text.
func section(b *strings.Builder, title, body string) {
	body = strings.TrimSpace(text.Clean(memory.StripRecalled(body)))
	if body == "" && !strings.HasPrefix(title, "Outcome") {
		return
	}
	fmt.Fprintf(b, "\n## %s\n\n", title)
	for line := range strings.SplitSeq(text.Head(body, maxQuoted), "\n") {
		b.WriteString(strings.TrimRight("> "+comment.Replace(line), " \t\r") + "\n")
	}
}

// comment takes apart what would be a comment of HTML, with which Kioku marks notes.
var comment = strings.NewReplacer("<!--", "<! --", "-->", "-- >")

// oneLine returns a text as one line without marks.
func oneLine(s string) string { return comment.Replace(text.OneLine(text.Clean(s))) }

// bullets returns lines as a list.
func bullets(lines []string) string {
	var b strings.Builder
	for _, line := range lines {
		b.WriteString("- " + text.OneLine(line) + "\n")
	}
	return b.String()
}

// votesSection lists the votes of all rounds.
func votesSection(b *strings.Builder, s *flow.Snapshot, d *council.Decision) {
	if len(d.Votes) == 0 {
		return
	}
	b.WriteString("\n## Votes\n\n")
	for _, round := range d.Votes {
		fmt.Fprintf(b, "- Round %d", round.Round)
		if round.Attempt > 1 {
			fmt.Fprintf(b, ", repeated (%d)", round.Attempt)
		}
		b.WriteString(":")
		for _, name := range s.Claim.Roster {
			vote := round.Votes[name]
			if vote == "" {
				vote = "abstained"
			}
			fmt.Fprintf(b, " %s %s;", name, vote)
		}
		b.WriteString("\n")
	}
	fmt.Fprintf(b, "- Families of models among the voters: %d\n", d.Independence)
}

// sources lists the ballots that were sealed, with their hashes.
func sources(b *strings.Builder, s *flow.Snapshot) {
	var lines []string
	for _, a := range s.Rounds {
		if a.Seal == nil {
			continue
		}
		for _, v := range a.Seal.Ballots {
			if v.Attempt == a.Attempt {
				lines = append(lines, fmt.Sprintf("- discussions/%s/round_%d, attempt %d, %s: sha256 %s", s.ID, a.Round, a.Attempt, v.Member, v.SHA256))
			}
		}
	}
	if lines != nil {
		b.WriteString("\n## Sources\n\n" + strings.Join(lines, "\n") + "\n")
	}
}
