package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"kioku/cmd/kioku/config"
	"kioku/cmd/kioku/internal/modelcheck"
	"kioku/cmd/kioku/internal/modelstore"
	"kioku/cmd/kioku/internal/render"
)

// modelDeclined is a file in the state folder: the user does not want a model, and is not asked again.
const modelDeclined = "model-declined"

// minEnglish is the least share of English in notes for which a model of English is offered.
const minEnglish = 0.9

// offerModel asks once at a terminal whether to add a model, so that notes of a folder are found by what they mean. Elsewhere it names the
// command. With yes it adds the model without a question.
func (a *app) offerModel(ctx context.Context, conf *config.Config, folder string, yes bool) error {
	if conf.Embed.Provider != "none" || conf.Provider == "none" || conf.Client.Target != "" || a.readOnly {
		return nil
	}
	state, err := conf.StateDir()
	if err != nil {
		return err
	}
	declined := filepath.Join(state, modelDeclined)
	known, _ := modelstore.Lookup(a.modelFor(folder)) // a name of the catalog
	in, ok := a.stdin.(*os.File)
	switch {
	case yes:
		return a.addModel(ctx, modelstore.Request{Source: known.Name})
	case conf.Offline, exists(declined):
		return nil
	case !ok || !render.IsTerminal(in) || a.JSON:
		a.Notice("notes are found by their words; kioku model add %s (%d MB) also finds them by what they mean", known.Name, known.MB)
		return nil
	}
	fmt.Fprintf(a.Stderr, "Also find notes by what they mean? The model %s (%s, %d MB) runs on this machine. Add it? [y/N] ", known.Name, known.Languages, known.MB)
	answer, _ := bufio.NewReader(a.stdin).ReadString('\n') // the end of input means no
	switch strings.ToLower(strings.TrimSpace(answer)) {
	case "y", "yes":
		return a.addModel(ctx, modelstore.Request{Source: known.Name})
	}
	a.Notice("kioku model add %s adds it later", known.Name)
	return errors.Join(os.MkdirAll(state, 0o700), os.WriteFile(declined, nil, 0o600))
}

// exists reports whether there is a file.
func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// variable returns a variable of the environment, empty if it is not set.
func (a *app) variable(name string) string {
	for _, set := range slices.Backward(a.Env) {
		if value, ok := strings.CutPrefix(set, name+"="); ok {
			return value
		}
	}
	return ""
}

// modelFor returns the name of the model for the notes of a folder: by their languages, and that of the user while there are no notes.
func (a *app) modelFor(folder string) string {
	var paths []string
	for _, glob := range []string{"*.md", "memory/*.md"} {
		found, _ := filepath.Glob(filepath.Join(folder, glob)) // the pattern is right
		for _, path := range found {
			// What init writes is no sample of a language.
			if info, err := os.Stat(path); err == nil && info.Size() > int64(len("# Memory\n")) {
				path, _ = filepath.Rel(folder, path)
				paths = append(paths, path)
			}
		}
	}
	const english, other = "minilm", "multilingual-e5-small"
	shares, err := modelcheck.WorkspaceLanguages(folder, paths)
	if err == nil && len(shares) > 0 {
		if slices.ContainsFunc(shares, func(s modelcheck.Share) bool { return s.Language == "en" && s.Share >= minEnglish }) {
			return english
		}
		return other
	}
	for _, name := range []string{"LC_ALL", "LC_MESSAGES", "LANG"} {
		if language := a.variable(name); language != "" {
			if strings.HasPrefix(language, "en") || strings.HasPrefix(language, "C") || language == "POSIX" {
				return english
			}
			return other
		}
	}
	return english
}
