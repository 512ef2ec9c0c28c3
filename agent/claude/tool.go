package claude

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"kioku/agent/tools"
	"kioku/llm"
	"kioku/memory"
)

// Name of the tool, as Claude's API has it.
const Name = "memory"

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

// command is a command of a model. Texts and lines that a command must have are nil if they are missing.
type command struct {
	Verb       string        `json:"command"`
	Path       string        `json:"path"`
	ViewRange  []tools.Whole `json:"view_range"`
	FileText   *string       `json:"file_text"`
	OldStr     string        `json:"old_str"`
	NewStr     string        `json:"new_str"`
	InsertLine *tools.Whole  `json:"insert_line"`
	InsertText *string       `json:"insert_text"`
	OldPath    string        `json:"old_path"`
	NewPath    string        `json:"new_path"`
}

// refuse returns the error of a command that cannot be carried out as it stands, worded for the model.
func refuse(field, format string, args ...any) error {
	return &memory.InputError{Field: field, Problem: fmt.Sprintf(format, args...)}
}

// Call carries out a command and returns what to tell the model, as a JSON string. It returns a *memory.InputError, worded for
// the model, for an unknown tool, a command that is incomplete or malformed, a path that is not in /memories, and whatever
// the files do not allow; then nothing was changed.
func (t *Tool) Call(ctx context.Context, name string, input json.RawMessage) (json.RawMessage, error) {
	if name != Name {
		return nil, refuse("name", "there is no tool %q here; there is %q", name, Name)
	}
	var c command
	if err := tools.Decode(input, &c); err != nil {
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
		if input := new(memory.InputError); !errors.As(err, &input) {
			err = fmt.Errorf("memory tool: %s: %w", c.Verb, err)
		}
		return nil, err
	}
	return json.Marshal(said + f.toldSecrets())
}

// execute carries out a command and returns what to tell the model.
func (f *folder) execute(ctx context.Context, c command) (string, error) {
	if c.Verb == "rename" {
		return f.rename(c.OldPath, c.NewPath)
	}
	rel, err := parsePath("path", c.Path)
	if err != nil {
		return "", err
	}
	switch c.Verb {
	case "view":
		return f.view(ctx, rel, c.ViewRange)
	case "create":
		if c.FileText == nil {
			return "", refuse("file_text", "the command create needs it")
		}
		return f.create(rel, *c.FileText)
	case "str_replace":
		return f.replace(rel, c.OldStr, c.NewStr)
	case "insert":
		if c.InsertLine == nil || c.InsertText == nil {
			return "", refuse("insert_line", "the command insert needs it, and insert_text")
		}
		return f.insert(ctx, rel, int(*c.InsertLine), *c.InsertText)
	case "delete":
		return f.delete(ctx, rel)
	}
	return "", refuse("command", "there is no %q; there are view, create, str_replace, insert, delete and rename", c.Verb)
}
