package claude

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"kioku/llm"
)

// Name of the tool, as Claude's API has it.
const Name = "memory"

// maxFileBytes is the size above which a file is neither read nor written.
const maxFileBytes = 1 << 20

// Options of a Tool. Folder and Kept are required.
type Options struct {
	// Folder is what the model sees as /memories, such as <workspace>/memory. It is made if it is missing; it must not be
	// a symbolic link.
	Folder string
	// Kept is where copies of what is deleted or replaced go, such as <state>/agents/<agent>/kept. It is made, 0700, and must
	// not be inside of Folder, nor Folder inside of it. Nothing in it is ever removed.
	Kept string
	// Now is the clock, nil means time.Now.
	Now func() time.Time
}

// InputError is a command that cannot be carried out as it stands. It is worded for the model.
type InputError struct {
	// Problem says what is wrong and what to do instead.
	Problem string
}

// Error returns the problem.
func (e *InputError) Error() string { return e.Problem }

// refuse returns an *InputError.
func refuse(format string, args ...any) error {
	return &InputError{Problem: fmt.Sprintf(format, args...)}
}

// Tool is the memory tool. Its methods may be called concurrently.
type Tool struct{ opt Options }

// New returns a tool. It returns an error if Options lack a folder, or have one inside of the other. It touches no disk.
func New(opt Options) (*Tool, error) {
	if opt.Folder == "" || opt.Kept == "" {
		return nil, errors.New("memory tool: a folder of notes and one for kept copies are required")
	}
	var err error
	if opt.Folder, err = filepath.Abs(opt.Folder); err == nil {
		opt.Kept, err = filepath.Abs(opt.Kept)
	}
	if err != nil {
		return nil, fmt.Errorf("memory tool: %w", err)
	}
	if inside(opt.Folder, opt.Kept) || inside(opt.Kept, opt.Folder) {
		return nil, fmt.Errorf("memory tool: %s and %s must not be inside of each other; choose another folder for kept copies", opt.Folder, opt.Kept)
	}
	if opt.Now == nil {
		opt.Now = time.Now
	}
	return &Tool{opt: opt}, nil
}

// inside reports whether a path is a folder or below it.
func inside(folder, path string) bool {
	rel, err := filepath.Rel(folder, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// List describes the tool to a model.
func (t *Tool) List() []llm.Tool {
	return []llm.Tool{{
		Name: Name,
		Description: "Your notes, kept from one conversation to the next as text files in the folder /memories. Look there before you " +
			"begin a task, and write down what later conversations need; files that end in .md are also found by a search of " +
			"memory. Commands: view (a folder or a file), create (a new file; fails where there is one), str_replace (old_str " +
			"must occur exactly once), insert (after a line, 0 for the beginning), delete, rename. Text is only added to files " +
			"of a day, such as 2026-01-20.md, by insert after the last line.",
		Schema: json.RawMessage(schema),
	}}
}

const schema = `{
  "type": "object",
  "properties": {
    "command": {"type": "string", "enum": ["view", "create", "str_replace", "insert", "delete", "rename"]},
    "path": {"type": "string", "description": "What the command is about, such as /memories/projects/acme.md. For all commands but rename."},
    "view_range": {"type": "array", "items": {"type": "integer"}, "minItems": 2, "maxItems": 2, "description": "view: first and last line, counted from 1; -1 for the end of the file."},
    "file_text": {"type": "string", "description": "create: the text of the file."},
    "old_str": {"type": "string", "description": "str_replace: the text to replace, letter for letter."},
    "new_str": {"type": "string", "description": "str_replace: what to put in its place."},
    "insert_line": {"type": "integer", "minimum": 0, "description": "insert: the line after which the text goes."},
    "insert_text": {"type": "string", "description": "insert: the text."},
    "old_path": {"type": "string", "description": "rename: what there is."},
    "new_path": {"type": "string", "description": "rename: what it is to be called."}
  },
  "required": ["command"],
  "additionalProperties": false
}`

// Call carries out a command and returns what to tell the model, as a JSON string. It returns an *InputError, worded for
// the model, for an unknown tool, a command that is incomplete or malformed, a path that is not in /memories, and whatever
// the files do not allow; then nothing was changed.
func (t *Tool) Call(ctx context.Context, name string, input json.RawMessage) (json.RawMessage, error) {
	if name != Name {
		return nil, refuse("there is no tool %q here; there is %q", name, Name)
	}
	c, err := decode(input)
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	f, err := t.openFolder(ctx, c.Verb != "view")
	if err != nil {
		return nil, err
	}
	defer f.close()
	said, err := f.execute(ctx, c)
	if err != nil {
		return nil, err
	}
	return json.Marshal(said + f.toldSecrets())
}
