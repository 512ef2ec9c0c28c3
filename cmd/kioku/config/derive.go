package config

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Derive are the settings of what is derived from notes: facts, open loops and summaries.
type Derive struct {
	// Enabled is true if anything is derived.
	Enabled bool
	// Model that derives: "none" for rules only, "default" for the language model of chat, else the name of another model of its
	// provider.
	Model string
	// MaxSensitivity is the ceiling of what a model is sent: "normal", "private", or "auto" for private if its server is on this
	// machine, else normal.
	MaxSensitivity string
	// Settle is how long a file must not change before a model is asked about it.
	Settle time.Duration
	// MaxTokensPerDay and MaxCallsPerHour bound what the model of all processes together may cost.
	MaxTokensPerDay, MaxCallsPerHour int
	// Reflect asks the model for its reflections about episodes too.
	Reflect bool
	// ExportDir is the folder of the views in the workspace; empty writes none. ExportMaxSensitivity is the ceiling of what they
	// contain.
	ExportDir, ExportMaxSensitivity string
	// Private are globs of paths whose episodes are private.
	Private []string
	// Predicates are further predicates of facts by name, each with its class: "set", "exclusive" or "event".
	Predicates map[string]string
	// EntityTypes are types of entities beside those that are built in.
	EntityTypes []string
	// Expand and Rerank let the model help with searches.
	Expand, Rerank bool
}

// Values of derive.llm.model that are no names of models.
const (
	// DeriveNoModel derives by rules only.
	DeriveNoModel = "none"
	// DeriveDefaultModel derives by the model of llm.model.
	DeriveDefaultModel = "default"
)

// defaultDerive returns the settings of a run that nobody configured.
func defaultDerive() Derive {
	return Derive{
		Model: DeriveNoModel, MaxSensitivity: "auto", Settle: 10 * time.Minute, MaxTokensPerDay: 200_000, MaxCallsPerHour: 60,
		ExportDir: "derived", ExportMaxSensitivity: "normal", Predicates: map[string]string{},
	}
}

// derive registers the settings of derivation.
func (r *registry) derive(c *Config) {
	d := &c.Derive
	r.group = "Derived memory"
	r.toggle(&d.Enabled, "derive.enabled", "Derive names, facts with evidence, open loops and summaries from the notes; see derive.md. By rules only, unless derive.llm.model is set.")
	r.text(&d.Model, "derive.llm.model", "Language model that derives: none for rules only, default for that of llm.model, else the name of another model of llm.provider. What is sent to it are texts of notes up to derive.llm.maxSensitivity.")
	r.choice(&d.MaxSensitivity, []string{"auto", "normal", "private"}, "derive.llm.maxSensitivity", "Ceiling of what the model is sent: auto is private for a server on this machine and normal for any other. Secrets are never sent.")
	r.duration(&d.Settle, time.Minute, 0, 10_080, "derive.settleMinutes", "Minutes without a change after which the model is asked about a file.")
	number(r, &d.MaxTokensPerDay, 0, 1_000_000_000, "derive.maxTokensPerDay", "Tokens, of prompts and answers, that all processes of an agent may use in a day to derive; the rest waits for the next day. 0 asks no model.")
	number(r, &d.MaxCallsPerHour, 1, 1_000_000, "derive.maxCallsPerHour", "Calls of the model in an hour.")
	r.toggle(&d.Reflect, "derive.reflect", "Ask the model also what it thinks about each episode, which counts for the order of what is recalled.")
	r.viewFolder(&d.ExportDir, "derive.export.dir", "Folder of the workspace that Markdown views of what is derived are written to; \"\" writes none. The decisions of people are in derived/decisions.md in any case.")
	r.choice(&d.ExportMaxSensitivity, []string{"normal", "private"}, "derive.export.maxSensitivity", "Ceiling of what the views contain. Secrets are never in them.")
	r.globs(&d.Private, "derive.private", "Globs of paths of notes from which everything is private: not shown in groups, not sent to models on other machines.", checkExclude)
	r.predicates(d.Predicates, "derive.predicates", "Further predicates of facts, each with its class: set (all values hold), exclusive (the latest holds) or event (the first holds), such as drinks=set.")
	r.items(&d.EntityTypes, "list", "derive.entityTypes", "Further types of entities for the model to use, beside PERSON, PLACE, PROJECT, WORK, TOPIC, ORG and OTHER, such as PET.", checkEntityType)
	r.toggle(&d.Expand, "derive.expand.llm", "Let the model phrase further queries for a message that is short or points at something, within 700 ms.")
	r.toggle(&d.Rerank, "derive.rerank.llm", "Let the model choose among what was found for a message, within 700 ms.")
}

// entityType is what a type of entities looks like.
var entityType = regexp.MustCompile(`^[A-Z][A-Z0-9_]{0,23}$`)

// checkEntityType returns a type of entities, or what is wrong with it.
func checkEntityType(name string) (string, error) {
	if !entityType.MatchString(name) {
		return "", fmt.Errorf("%q is no type: use capital letters, digits and underscores, such as PET", shorten(name))
	}
	return name, nil
}

// viewFolder adds a folder of the workspace that is none of the folders of notes.
func (r *registry) viewFolder(at *string, key, doc string) {
	scalar(r, at, aText, "text", key, doc, func(s string) (string, error) {
		if s == "" {
			return "", nil
		}
		clean := filepath.ToSlash(filepath.Clean(s))
		first, _, _ := strings.Cut(clean, "/")
		if !filepath.IsLocal(s) || clean == "." || strings.EqualFold(first, "memory") {
			return "", fmt.Errorf("%q must be a folder below the workspace, and not in memory/, whose files are indexed", shorten(s))
		}
		return clean, nil
	}, same)
}

// predicates adds a map of predicates to their classes; of two entries with one name the later wins.
func (r *registry) predicates(at map[string]string, key, doc string) {
	classes := []string{"set", "exclusive", "event"}
	r.register(key, doc, &value{
		kind: aMap, typ: pairsType,
		set: func(items []string) error {
			for _, item := range items {
				name, class, ok := strings.Cut(item, "=")
				if !ok || name == "" || !slices.Contains(classes, class) {
					return fmt.Errorf("%q is not name=class with the class set, exclusive or event", shorten(item))
				}
				at[name] = class
			}
			return nil
		},
		get: func() string { return pairs(at, same) },
	})
}
