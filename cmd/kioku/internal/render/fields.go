package render

import (
	"slices"
	"time"

	"go.yaml.in/yaml/v3"

	"kioku/server/op"
)

// Fields adds an answer that has no form of its own, as YAML by its JSON names. What is empty is left out, and times are local.
func Fields[T any](p *Page, answer T) {
	text, err := op.Marshal(answer)
	var doc yaml.Node
	if err == nil {
		err = yaml.Unmarshal(text, &doc)
	}
	if err == nil {
		tidy(&doc)
		if isEmpty(doc.Content[0]) {
			return
		}
		text, err = yaml.Marshal(&doc)
	}
	if err != nil {
		text = []byte(err.Error())
	}
	p.Text(string(text))
}

// tidy turns JSON into YAML as people write it.
func tidy(n *yaml.Node) {
	n.Style, n.Value = 0, Clean(n.Value)
	if at, err := time.Parse(time.RFC3339, n.Value); err == nil {
		n.Value = when(at)
	}
	for _, below := range n.Content {
		tidy(below)
	}
	if n.Kind == yaml.MappingNode {
		for i := len(n.Content) - 2; i >= 0; i -= 2 {
			if isEmpty(n.Content[i+1]) {
				n.Content = slices.Delete(n.Content, i, i+2)
			}
		}
	}
}

// isEmpty reports whether a value says nothing.
func isEmpty(n *yaml.Node) bool {
	return n.Kind == yaml.ScalarNode && (n.Value == "" || n.Tag == "!!null") || n.Kind != yaml.ScalarNode && len(n.Content) == 0
}
