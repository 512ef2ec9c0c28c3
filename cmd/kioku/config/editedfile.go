package config

import "errors"

// Change gives a key a value, as kioku config set takes them.
type Change struct {
	// Key of the setting.
	Key string
	// Value as it is written on a command line.
	Value string
}

// EditedFile is a file of settings with changes that are not written yet.
type EditedFile struct {
	// Path of the file.
	Path string
	// Before is its text now, empty if there is no file.
	Before []byte
	// After is its text with the changes.
	After []byte

	src Sources
}

// Prepare applies changes to the text of the file that [Edit] writes, and checks the result. It writes nothing, and returns the
// errors of Edit.
func Prepare(src Sources, changes ...Change) (*EditedFile, error) {
	path, data, err := openEdited(src)
	e := &EditedFile{Path: path, Before: data, After: data, src: src}
	for _, c := range changes {
		f, ok := Default().lookup(c.Key)
		if !ok {
			return nil, Default().registry.unknown("", c.Key)
		}
		if err != nil {
			return nil, err
		}
		if e.After, err = edited(path, e.After, f, anchored(f, c.Value, src)); err != nil {
			return nil, err
		}
	}
	if err == nil {
		err = errors.Join(checkEdited(src, path, e.After)...)
	}
	if err != nil {
		return nil, err
	}
	return e, nil
}

// Write atomically replaces the file.
func (e *EditedFile) Write() error { return replaceFile(e.src, e.Path, e.After) }
