package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"kioku/cmd/kioku/internal/render"
	"kioku/cmd/kioku/internal/setup"
)

// clientList is the output of kioku setup --json without a client.
type clientList struct {
	// Clients has one item for each configuration.
	Clients []clientState `json:"clients"`
}

// clientState is a configuration in the output of kioku setup.
type clientState struct {
	// Client by its name on the command line.
	Client string `json:"client"`
	// Title is the name that people know.
	Title string `json:"title"`
	// Scope of the configuration: user or project.
	Scope string `json:"scope"`
	// Found is true if the client is used on this machine.
	Found bool `json:"found"`
	// Path of the configuration.
	Path string `json:"path"`
	// Entries start Kioku; none if it is not set up.
	Entries []setup.Entry `json:"entries"`
	// Problem says why the configuration cannot be read, or that an entry names a program which is not there.
	Problem string `json:"problem"`
}

// listClients shows the configurations of all clients.
func (a *app) listClients() error {
	m := a.machine()
	states := []clientState{}
	for _, c := range setup.Clients() {
		found := c.Found(m)
		for _, scope := range c.Scopes() {
			path, err := c.Path(m, scope)
			if err != nil {
				return err
			}
			s := clientState{Client: c.ID, Title: c.Title, Scope: string(scope), Found: found, Path: path, Entries: []setup.Entry{}}
			if entries, err := c.Entries(m, scope); err != nil {
				s.Problem = err.Error()
			} else {
				s.Entries, s.Problem = entries, missingProgram(m, entries)
			}
			states = append(states, s)
		}
	}
	return a.Write(clientList{states}, func(p *render.Page) { tellClients(p, states) })
}

// missingProgram says that an entry names a program which is not there, empty if all are.
func missingProgram(m *setup.Machine, entries []setup.Entry) string {
	for _, e := range entries {
		program := e.Command[0]
		if filepath.IsAbs(program) {
			if _, err := os.Stat(program); err != nil {
				return fmt.Sprintf("%s starts %s, which is not there; run kioku setup again", e.Name, program)
			}
		} else if m.LookPath(program) == "" {
			return fmt.Sprintf("%s starts %s, which is not in the PATH", e.Name, program)
		}
	}
	return ""
}

// tellClients adds a line for each client that is found or set up, and the names of the others.
func tellClients(p *render.Page, states []clientState) {
	var missing []string
	for _, s := range states {
		switch {
		case len(s.Entries) == 0 && s.Problem == "" && (!s.Found || s.Scope == string(setup.Project)):
			if !s.Found && s.Scope == string(setup.User) {
				missing = append(missing, s.Client)
			}
			continue
		case len(s.Entries) == 0 && s.Problem == "":
			p.Linef("%-15s not set up   %s", s.Client, s.Path)
		case len(s.Entries) == 0:
			p.Linef("%-15s unreadable   %s", s.Client, s.Path)
		default:
			p.Linef("%-15s set up       %s", s.Client, s.Path)
		}
		for _, e := range s.Entries {
			p.Linef("%-15s              %s: %s", "", e.Name, strings.Join(e.Command, " "))
		}
		if s.Problem != "" {
			p.Linef("%-15s              %s", "", s.Problem)
		}
	}
	if len(missing) > 0 {
		p.Linef("not found here: %s", strings.Join(missing, ", "))
	}
	p.Linef("kioku setup CLIENT --workspace FOLDER sets one up; --dry-run shows the change only.")
}
