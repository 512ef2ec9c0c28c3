package tokenizer

import (
	"errors"
	"fmt"
)

// templateFile is a post-processor in tokenizer.json; each type has some of the fields.
type templateFile struct {
	Type       string                      `json:"type"`
	Processors []templateFile              `json:"processors"`
	Single     []partFile                  `json:"single"`
	Pair       []partFile                  `json:"pair"`
	Special    map[string]specialTokenFile `json:"special_tokens"`
	Sep        *tokenAndID                 `json:"sep"`
	Cls        *tokenAndID                 `json:"cls"`
}

// partFile is a special token or one of the texts.
type partFile struct {
	SpecialToken *struct {
		ID   string `json:"id"`
		Type int32  `json:"type_id"`
	} `json:"SpecialToken"`
	Sequence *struct {
		ID   string `json:"id"`
		Type int32  `json:"type_id"`
	} `json:"Sequence"`
}

type specialTokenFile struct {
	IDs []int64 `json:"ids"`
}

// tokenAndID is ["[SEP]", 102] in tokenizer.json.
type tokenAndID struct {
	token string
	id    int64
}

// UnmarshalJSON implements json.Unmarshaler.
func (t *tokenAndID) UnmarshalJSON(data []byte) error {
	return unmarshalPair(data, &t.token, &t.id)
}

// template puts the tokens of one or two texts between special tokens.
type template struct{ single, pair parts }

// parts are the parts of a sequence in their order.
type parts []part

// part is special tokens, or the tokens of a text.
type part struct {
	ids  []int32
	text int // 0 for special tokens, 1 or 2 for the first or the second text
	kind int32
}

// plain is the template of a file without one.
var plain = template{
	single: parts{{text: 1}},
	pair:   parts{{text: 1}, {text: 2, kind: 1}},
}

// newTemplate returns the template that f describes.
func newTemplate(f templateFile) (template, error) {
	switch f.Type {
	case "TemplateProcessing":
		single, err := f.parts(f.Single)
		if err != nil {
			return template{}, err
		}
		pair, err := f.parts(f.Pair)
		return template{single, pair}, err
	case "BertProcessing", "RobertaProcessing":
		return f.bert()
	case "ByteLevel": // only about offsets
		return plain, nil
	case "Sequence":
		found := plain
		seen := false
		for _, one := range f.Processors {
			if one.Type == "ByteLevel" {
				continue
			}
			if seen {
				return template{}, errors.New("a sequence of several post-processors")
			}
			var err error
			if found, err = newTemplate(one); err != nil {
				return template{}, err
			}
			seen = true
		}
		return found, nil
	}
	return template{}, fmt.Errorf("unknown post-processor %.40q", f.Type)
}

// bert returns the templates of BERT and RoBERTa.
func (f templateFile) bert() (template, error) {
	if f.Sep == nil || f.Cls == nil {
		return template{}, fmt.Errorf("%s lacks sep or cls", f.Type)
	}
	ids, err := checkIDs([]int64{f.Cls.id, f.Sep.id})
	if err != nil {
		return template{}, err
	}
	cls, sep := part{ids: ids[:1]}, part{ids: ids[1:]}
	single := parts{cls, {text: 1}, sep}
	if f.Type == "RobertaProcessing" {
		return template{single, parts{cls, {text: 1}, sep, sep, {text: 2}, sep}}, nil
	}
	return template{single, parts{cls, {text: 1}, sep, {text: 2, kind: 1}, {ids: ids[1:], kind: 1}}}, nil
}

// parts returns the parts that a list in the file describes.
func (f templateFile) parts(list []partFile) (out parts, _ error) {
	texts := map[string]int{"A": 1, "B": 2}
	for _, p := range list {
		switch {
		case p.Sequence != nil && texts[p.Sequence.ID] > 0:
			out = append(out, part{text: texts[p.Sequence.ID], kind: p.Sequence.Type})
		case p.SpecialToken != nil:
			token, ok := f.Special[p.SpecialToken.ID]
			if !ok {
				return nil, fmt.Errorf("the template uses %.40q, which its special_tokens lack", p.SpecialToken.ID)
			}
			ids, err := checkIDs(token.IDs)
			if err != nil {
				return nil, err
			}
			out = append(out, part{ids: ids, kind: p.SpecialToken.Type})
		default:
			return nil, errors.New("a part of the template is neither a special token nor one of the texts A and B")
		}
	}
	return out, nil
}

// checkIDs returns ids of a file.
func checkIDs(ids []int64) ([]int32, error) {
	out := make([]int32, len(ids))
	for i, id := range ids {
		if id < 0 || id >= maxID {
			return nil, fmt.Errorf("the token id %d: ids are 0 to %d", id, maxID-1)
		}
		out[i] = int32(id)
	}
	return out, nil
}

// special returns the number of special tokens.
func (p parts) special() int {
	n := 0
	for _, part := range p {
		n += len(part.ids)
	}
	return n
}

// apply returns the whole sequence of two texts, of which the second may be nil.
func (p parts) apply(first, second []int32) Encoding {
	e := Encoding{IDs: make([]int32, 0, len(first)+len(second)+p.special())}
	types := make([]int32, 0, cap(e.IDs))
	several := false
	for _, part := range p {
		ids := part.ids
		switch part.text {
		case 1:
			ids = first
		case 2:
			ids = second
		}
		e.IDs = append(e.IDs, ids...)
		for range ids {
			types = append(types, part.kind)
		}
		several = several || part.kind != 0
	}
	if several {
		e.Types = types
	}
	return e
}

// highest returns the largest id of the special tokens.
func (t template) highest() int32 {
	var most int32
	for _, p := range append(t.single, t.pair...) {
		for _, id := range p.ids {
			most = max(most, id)
		}
	}
	return most
}
