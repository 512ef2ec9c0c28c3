package store

import (
	"context"
	"encoding/json"
	"fmt"

	"kioku/memory"
)

const (
	// meetsCondition holds for a row d of fields that meets the condition c, a row of json_each. Each condition is
	// {"field", "op", "values": [{"text", "number", "day"}]}. The tag a/b meets a condition on the tag a.
	meetsCondition = `EXISTS (SELECT 1 FROM json_each(c.value, '$.values') v WHERE CASE c.value ->> 'op'
		WHEN '<' THEN d.number < v.value ->> 'number' OR d.day < v.value ->> 'day'
		WHEN '<=' THEN d.number <= v.value ->> 'number' OR d.day <= v.value ->> 'day'
		WHEN '>' THEN d.number > v.value ->> 'number' OR d.day > v.value ->> 'day'
		WHEN '>=' THEN d.number >= v.value ->> 'number' OR d.day >= v.value ->> 'day'
		ELSE d.value = v.value ->> 'text' OR d.number = v.value ->> 'number' OR d.day = v.value ->> 'day'
			OR d.name = 'tags' AND substr(d.value, 1, length(v.value ->> 'text') + 1) = (v.value ->> 'text') || '/' END)`

	// meetsConditions holds for a row f of files that meets the conditions of ?5, as conditionsJSON returns them. SQLite
	// computes each list of files once.
	meetsConditions = `(?5 = ''
		OR (json_array_length(?5, '$.all') = 0 OR f.id IN (SELECT d.file FROM json_each(?5, '$.all') c CROSS JOIN fields d
			WHERE d.name = c.value ->> 'field' AND ` + meetsCondition + `
			GROUP BY d.file HAVING count(DISTINCT c.key) = json_array_length(?5, '$.all')))
		AND f.id NOT IN (SELECT d.file FROM json_each(?5, '$.none') c CROSS JOIN fields d
			WHERE d.name = c.value ->> 'field' AND ` + meetsCondition + `))`

	// countLacking counts the files without a field, or for the field date without a dated chunk.
	countLacking = `SELECT count(*) FROM files WHERE error = '' AND out_of_scope = 0 AND id NOT IN (SELECT file FROM fields WHERE name = ?1 AND value <> '')
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

// fieldValue is a value in each of the forms that the table fields has.
type fieldValue struct {
	Text   string   `json:"text"`
	Number *float64 `json:"number"`
	Day    *string  `json:"day"`
}

// conditionsJSON returns conditions as the argument of meetsConditions, "" for none.
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
			if day := dayOf(value); day != "" && len(value) == len(day) {
				v.Day = &day
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
