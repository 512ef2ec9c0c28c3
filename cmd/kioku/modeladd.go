package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"

	"github.com/spf13/cobra"

	"kioku/cmd/kioku/config"
	"kioku/cmd/kioku/internal/modelstore"
	"kioku/cmd/kioku/internal/render"
)

func (a *app) modelAddCmd() *cobra.Command {
	var req modelstore.Request
	var role string
	cmd := &cobra.Command{
		Use: "add NAME|PATH|URL", Short: "Add a model: one that is known by name, a folder or a download",
		Long: "Add a model. NAME is one of kioku model list --known, or a repository on huggingface.co such as intfloat/e5-base-v2. PATH is a\n" +
			"folder with model.safetensors and tokenizer.json, or that file of weights; URL is the page of a repository. What is\n" +
			"downloaded is checked, and a download that breaks off is continued by the same command. The model is tried before it is\n" +
			"added. With offline, only folders of this machine are added.",
		Example: "  kioku model add minilm\n  kioku model add ~/Downloads/bge-small-en-v1.5 --name bge\n" +
			"  kioku model add https://huggingface.co/intfloat/multilingual-e5-small\n  kioku model add --as reranker ms-marco-minilm",
		Args: cobra.ExactArgs(1), ValidArgsFunction: completeKnown,
		RunE: func(cmd *cobra.Command, args []string) error {
			req.Source, req.Dir = args[0], a.dir
			if role != "" {
				req.Role = modelstore.Role(role)
			}
			return a.addModel(cmd.Context(), req)
		},
	}
	cmd.Flags().StringVar(&req.Name, "name", "", "`name` of the model here (default: that of its source)")
	cmd.Flags().Var(&choiceFlag{value: &role, choices: []string{string(modelstore.Embedder), string(modelstore.Reranker)}}, "as",
		"what it is for: embedder or reranker")
	completeFlag(cmd, "as", string(modelstore.Embedder), string(modelstore.Reranker))
	cmd.Flags().BoolVar(&req.Replace, "replace", false, "replace the model of the same name")
	return cmd
}

// choiceFlag is a flag with one of a few values.
type choiceFlag struct {
	value   *string
	choices []string
}

// Set implements pflag.Value.
func (f *choiceFlag) Set(value string) error {
	for _, c := range f.choices {
		if c == value {
			*f.value = value
			return nil
		}
	}
	return fmt.Errorf("choose %s", strings.Join(f.choices, " or "))
}

// String implements pflag.Value.
func (f *choiceFlag) String() string { return "" }

// Type implements pflag.Value.
func (f *choiceFlag) Type() string { return "role" }

// completeKnown completes the names of known models, and files.
func completeKnown(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var names []string
	for _, k := range modelstore.Catalog() {
		names = append(names, fmt.Sprintf("%s\t%s, %d MB, %s", k.Name, k.Kind, k.MB, k.Languages))
	}
	return names, cobra.ShellCompDirectiveDefault
}

// addedModel is the output of kioku model add --json.
type addedModel struct {
	modelstore.Manifest
	// Bytes of all files.
	Bytes int64 `json:"bytes"`
	// Used is true if the model embeds the notes, or re-ranks, from now on. Otherwise Provider does, for a Reason.
	Used     bool   `json:"used"`
	Provider string `json:"provider"`
	Reason   string `json:"reason"`
}

func (a *app) addModel(ctx context.Context, req modelstore.Request) error {
	conf, err := a.config()
	if err != nil {
		return err
	}
	meter := a.Meter()
	stop := meter.Run()
	adder := modelstore.Adder{
		Store: conf.Models(), Transport: conf.Network.Transport("model download"), Offline: conf.Offline, Open: modelstore.Open,
		Progress: func(p modelstore.Progress) { meter.Bytes(p.Phase, p.Done, p.Total) },
	}
	m, err := adder.Add(ctx, req)
	stop()
	if err != nil {
		if errors.Is(err, modelstore.ErrAdded) {
			return render.Misuse("%w", err)
		}
		var network net.Error
		if errors.As(err, &network) {
			err = fmt.Errorf("%w; without a network, get the files on another machine and add their folder: kioku model add FOLDER", err)
		}
		return err
	}
	if conf, err = conf.Reload(); err != nil { // the model may be the provider now
		return err
	}
	added := addedModel{Manifest: m.Manifest, Bytes: m.Manifest.Bytes(), Used: isUsed(conf, m) || reranks(conf, m), Provider: conf.Embed.Provider, Reason: conf.Embed.Reason}
	return a.Write(added, added.tell)
}

// tell adds what was added and what to do next.
func (m addedModel) tell(p *render.Page) {
	facts := []string{m.Kind}
	if m.Dims > 0 {
		facts = append(facts, fmt.Sprintf("%d dimensions", m.Dims))
	}
	facts = append(facts, render.Size(m.Bytes))
	for _, said := range []string{m.License, m.Languages} {
		if said != "" {
			facts = append(facts, said)
		}
	}
	p.Linef("Added %s: %s.", m.Name, strings.Join(facts, ", "))
	switch {
	case m.Role == modelstore.Reranker && m.Used:
		p.Linef("It re-ranks the results of searches from now on. A running daemon uses it after a restart.")
	case m.Role == modelstore.Reranker:
		p.Linef("Another re-ranker is set; this one re-ranks after: kioku config set rerank.provider local && kioku config set rerank.model %s", m.Name)
	case m.Used:
		p.Linef("It embeds the notes from now on: kioku index does it now. A running daemon uses it after a restart.")
	default:
		p.Linef("The provider is still %s (%s); kioku model use %s has this one embed the notes.", m.Provider, m.Reason, m.Name)
	}
}

// reranks reports whether the settings have a model re-rank.
func reranks(conf *config.Config, m modelstore.Model) bool {
	return conf.Rerank.Provider == "local" && conf.Rerank.ModelDir == m.Dir
}
