package kioku

import (
	"context"
	"os"

	"kioku/internal/secrets"
	"kioku/memory"
)

// withoutSecrets returns a note with references in the places of its secrets, and the secrets. They stay in a note that keeps them,
// but only if the same note was written before without them: a secret is written if somebody asks for it twice.
func (m *Memory) withoutSecrets(ctx context.Context, root *os.Root, n memory.Note) (memory.Note, []memory.ReplacedSecret, error) {
	text, found := secrets.Redact(n.Text)
	category, more := secrets.Redact(n.Category)
	if found = append(found, more...); len(found) == 0 {
		return n, nil, nil
	}
	redacted := n
	redacted.Text, redacted.Category = text, category
	if n.KeepSecrets {
		known, err := m.isWritten(ctx, root, redacted)
		if known || err != nil {
			return n, nil, err
		}
	}
	return redacted, replaced(found), nil
}

// isWritten reports whether the files of today, or MEMORY.md, have the text of a note.
func (m *Memory) isWritten(ctx context.Context, root *os.Root, n memory.Note) (bool, error) {
	p, err := m.openPlace(ctx, root, n)
	if err != nil {
		return false, err
	}
	defer func() { closeNotes(p.files) }()
	known, err := p.findText()
	return known.Deduplicated, err
}

// replaced returns what is told of secrets, each once.
func replaced(found []secrets.Found) []memory.ReplacedSecret {
	var out []memory.ReplacedSecret
	told := map[string]bool{}
	for _, f := range found {
		if !told[f.Reference] {
			told[f.Reference] = true
			out = append(out, memory.ReplacedSecret{Kind: f.Kind, Reference: f.Reference})
		}
	}
	return out
}
