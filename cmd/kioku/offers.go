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

// modelDeclined and hostsDeclined are files in the state folder: the user does not want a model, or the memories of other programs, and is
// not asked again.
const modelDeclined, hostsDeclined = "model-declined", "hosts-declined"

// minEnglish is the least share of English in notes for which a model of English is offered.
const minEnglish = 0.9

// offerModel asks once at a terminal whether to add a model, so that notes of a folder are found by what they mean. Elsewhere it names the
// command, and with tell always. With yes it adds the model without a question.
func (a *app) offerModel(ctx context.Context, conf *config.Config, folder string, yes, tell bool) error {
	if conf.Embed.Provider != "none" || conf.Provider == "none" || conf.Client.Target != "" || a.readOnly {
		return nil
	}
	known, _ := modelstore.Lookup(a.modelFor(folder)) // a name of the catalog
	if !yes && conf.Offline {
		return nil
	}
	var err error
	if !yes {
		yes, err = a.offered(conf, tell, modelDeclined, "kioku model add "+known.Name,
			fmt.Sprintf("notes are found by their words; kioku model add %s (%d MB) also finds them by what they mean", known.Name, known.MB),
			fmt.Sprintf("Also find notes by what they mean? The model %s (%s, %d MB) runs on this machine. Add it?", known.Name, known.Languages, known.MB))
	}
	if err != nil || !yes {
		return err
	}
	return a.addModel(ctx, modelstore.Request{Source: known.Name})
}

// offerHosts asks once at a terminal whether to search what other programs remember by themselves, if they do. Elsewhere it names the command.
func (a *app) offerHosts(ctx context.Context, conf *config.Config, tell bool) error {
	folders := conf.HostMemories()
	if len(folders) == 0 || conf.Has(config.SourceHosts) || conf.Client.Target != "" || a.readOnly {
		return nil
	}
	sources := strings.Join(append(slices.Clone(conf.Sources), config.SourceHosts), ",")
	command := "kioku config set sources " + sources
	yes, err := a.offered(conf, tell, hostsDeclined, command,
		fmt.Sprintf("what Claude Code, Codex and OpenClaw remember by themselves is in %s; %s searches it too", render.Count(len(folders), "folder"), command),
		fmt.Sprintf("Also search what Claude Code, Codex and OpenClaw remember by themselves (%s)? They are read, never written.", render.Count(len(folders), "folder")))
	if err != nil || !yes {
		return err
	}
	return a.setSetting(ctx, "sources", sources, false)
}

// offered asks a question at a terminal unless it was declined, and only tells with tell, and where nobody can be asked. The command does later what is offered.
func (a *app) offered(conf *config.Config, tell bool, declined, command, told, question string) (yes bool, err error) {
	state, err := conf.StateDir()
	if err != nil {
		return false, err
	}
	in, ok := a.stdin.(*os.File)
	switch declined = filepath.Join(state, declined); {
	case exists(declined):
		return false, nil
	case tell || !ok || !render.IsTerminal(in) || a.JSON:
		a.Notice("%s", told)
		return false, nil
	}
	fmt.Fprint(a.Stderr, question+" [y/N] ")
	answer, _ := bufio.NewReader(a.stdin).ReadString('\n') // the end of input means no
	switch strings.ToLower(strings.TrimSpace(answer)) {
	case "y", "yes":
		return true, nil
	}
	a.Notice("%s adds it later", command)
	return false, errors.Join(os.MkdirAll(state, 0o700), os.WriteFile(declined, nil, 0o600))
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
