package store

import (
	"context"
	"encoding/json"
	"fmt"

	"kioku/internal/text"
	"kioku/memory"
)

const (
	// MeetsConditions holds for a row f of files that meets the conditions of ?5, as conditionsJSON returns them. SQLite
	// computes each list of files once.
	MeetsConditions = `(?5 = ''
		OR (json_array_length(?5, '$.all') = 0 OR f.id IN (WITH w AS MATERIALIZED (` + selectConditions + `'$.all') c, json_each(c.value, '$.values') v)
			SELECT d.file FROM w CROSS JOIN fields d WHERE d.name = w.field AND ` + meetsCondition + `
			GROUP BY d.file HAVING count(DISTINCT w.condition) = json_array_length(?5, '$.all')))
		AND f.id NOT IN (WITH w AS MATERIALIZED (` + selectConditions + `'$.none') c, json_each(c.value, '$.values') v)
			SELECT d.file FROM w CROSS JOIN fields d WHERE d.name = w.field AND ` + meetsCondition + `))`

	// selectConditions selects the values of conditions, each {"field", "op", "values": [{"text", "number", "first", "last"}]}.
	selectConditions = `SELECT c.key AS condition, c.value ->> 'field' AS field, c.value ->> 'op' AS op, v.value ->> 'text' AS text,
		v.value ->> 'number' AS number, v.value ->> 'first' AS first, v.value ->> 'last' AS last FROM json_each(?5, `

	// meetsCondition holds for a row d of fields that meets the condition w. A value that is both a number and a day or period
	// (2026) compares as a number only with what is no day. The tag a/b meets a condition on the tag a.
	meetsCondition = `CASE w.op
		WHEN '<' THEN coalesce(d.day < w.first, d.number < w.number)
		WHEN '<=' THEN coalesce(d.day <= w.last, d.number <= w.number)
		WHEN '>' THEN coalesce(d.day > w.last, d.number > w.number)
		WHEN '>=' THEN coalesce(d.day >= w.first, d.number >= w.number)
		ELSE d.value = w.text OR d.number = w.number OR d.day BETWEEN w.first AND w.last
			OR d.name = 'tags' AND substr(d.value, 1, length(w.text) + 1) = w.text || '/' END`

	// countLacking counts the files without a field, or for the field date without a dated chunk.
	countLacking = `SELECT count(*) FROM files WHERE error = '' AND id NOT IN (SELECT file FROM fields WHERE name = ?1 AND value <> '')
		AND (?1 <> 'date' OR id NOT IN (SELECT file FROM chunks WHERE date > ''))`
)

// fileConditions are the conditions that a file must meet: all of All, and none of None.
type fileConditions struct {
	All  []fieldCondition `json:"all"`
	None []fieldCondition `json:"none"`
}

type fieldCondition struct {
	Field  string       `json:"field"`
	Op     string       `json:"op"`
	Values []fieldValue `json:"values"`
}

// fieldValue is a value of a condition: as a text, as a number, and as the days of a period.
type fieldValue struct {
	Text   string   `json:"text"`
	Number *float64 `json:"number"`
	First  *string  `json:"first"`
	Last   *string  `json:"last"`
}

// conditionsJSON returns conditions as the argument of MeetsConditions, "" for none.
func conditionsJSON(where []memory.Condition) string {
	if len(where) == 0 {
		return ""
	}
	list := fileConditions{All: []fieldCondition{}, None: []fieldCondition{}}
	for _, c := range where {
		condition := fieldCondition{Field: folded(c.Field), Op: c.Op}
		for _, value := range c.Values {
			v := fieldValue{Text: folded(value)}
			if n, ok := numberOf(value); ok {
				v.Number = &n
			}
			if first, last, ok := text.Period(value); ok {
				v.First, v.Last = &first, &last
			}
			condition.Values = append(condition.Values, v)
		}
		if c.Op == memory.NotEqual {
			list.None = append(list.None, condition)
		} else {
			list.All = append(list.All, condition)
		}
	}
	b, _ := json.Marshal(list) // texts and finite numbers always can be
	return string(b)
}

// Lacking implements search.Reader.
func (v *view) Lacking(ctx context.Context, field string) (int, error) {
	var n int
	if err := v.wordsTx.QueryRowContext(ctx, countLacking, folded(field)).Scan(&n); err != nil {
		return 0, fmt.Errorf("count files: %w", err)
	}
	return n, nil
}
