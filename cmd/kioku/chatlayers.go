package main

import (
	"kioku/agent/sidecar"
)

// showLayers writes the table of a prompt's layers.
func (a *app) showLayers(made sidecar.Prompt) error {
	p := a.page()
	for _, l := range made.Layers {
		p.linef("%-20s %9s %9s", l.Name, number(l.Chars), number(l.Tokens))
	}
	return a.show(p)
}
