package search

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kioku/memory"
)

func TestReadFilterFillsInConditions(t *testing.T) {
	t.Parallel()
	given := []memory.Condition{
		{Field: " Status ", Values: []string{" done "}}, {Field: "tag", Op: "in", Values: []string{"#a/b/", "c"}}, {Field: "ALIAS", Op: "!=", Values: []string{"x"}},
		{Field: "due", Op: "<", Values: []string{"2026-01-20T23:30:00-05:00"}}, {Field: "rating", Op: ">=", Values: []string{"-1.5e3"}},
	}
	before := fmt.Sprint(given)
	got, err := ReadFilter(memory.Filter{Where: given})
	want := []memory.Condition{
		{Field: "status", Op: "=", Values: []string{"done"}}, {Field: "tags", Op: "in", Values: []string{"a/b", "c"}}, {Field: "aliases", Op: "!=", Values: []string{"x"}},
		{Field: "due", Op: "<", Values: []string{"2026-01-20"}}, {Field: "rating", Op: ">=", Values: []string{"-1.5e3"}},
	}
	if diff := cmp.Diff(want, got.Where); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	if fmt.Sprint(given) != before {
		t.Errorf("the caller's conditions are %v now", given)
	}
}

// A bad condition is an error that says how a condition is written.
func TestReadFilterRefusesBadConditions(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 257)
	for _, c := range []memory.Condition{
		{}, {Field: "x"}, {Values: []string{"x"}}, {Field: " ", Values: []string{"x"}}, {Field: long, Values: []string{"x"}}, {Field: "x", Values: []string{long}},
		{Field: "x", Op: "~", Values: []string{"y"}}, {Field: "x", Op: "==", Values: []string{"y"}}, {Field: "x", Values: []string{"y", "z"}}, {Field: "x", Op: "in"},
		{Field: "x", Op: "in", Values: slices.Repeat([]string{"y"}, 65)}, {Field: "x", Op: "<", Values: []string{"soon"}}, {Field: "x", Op: "<", Values: []string{""}},
		{Field: "x", Op: ">", Values: []string{"NaN"}}, {Field: "tag", Values: []string{""}}, {Field: "tags", Op: "in", Values: []string{"a", "#"}}, {Field: "x", Op: ">", Values: []string{"2026-02-30"}},
	} {
		_, err := ReadFilter(memory.Filter{Where: []memory.Condition{c}})
		var input *memory.InputError
		if !errors.As(err, &input) || input.Field != "filter" || !strings.Contains(input.Problem, "status = done") {
			t.Errorf("%+.80v: %v", c, err)
		}
	}
	if _, err := ReadFilter(memory.Filter{Where: slices.Repeat([]memory.Condition{{Field: "x", Values: []string{"y"}}}, 33)}); err == nil {
		t.Error("33 conditions are accepted")
	}
}

// What excludes undated notes says so.
func TestSearchSaysWhatTheFilterLeavesOut(t *testing.T) {
	t.Parallel()
	s := New(newFakeStore(notes()...), nil, testOptions())
	for _, tc := range []struct {
		filter memory.Filter
		want   []string
	}{
		{memory.Filter{Since: "2025-01-01"}, []string{"3 of 6 notes have no date and are left out by the filter."}},
		{memory.Filter{Until: "2027-01-01", Where: []memory.Condition{{Field: "date", Op: ">", Values: []string{"2020-01-01"}}}},
			[]string{"3 of 6 notes have no date and are left out by the filter."}},
		{memory.Filter{Where: []memory.Condition{{Field: "status", Values: []string{"done"}}}}, []string{"No note has the field status, so the filter leaves all of them out."}},
		{memory.Filter{Where: []memory.Condition{{Field: "status", Op: "!=", Values: []string{"done"}}}}, nil},
		{memory.Filter{Where: []memory.Condition{{Field: "tags", Values: []string{"x"}}}}, []string{"No note has the field tags, so the filter leaves all of them out."}},
		{memory.Filter{PathPrefix: "memory/"}, nil},
		{memory.Filter{PathPrefix: "nosuch"}, []string{`No note has a path that begins with "nosuch", so the filter leaves all of them out.`}},
		{memory.Filter{Sources: []string{"sessions"}}, []string{"No note has the source sessions, so the filter leaves all of them out."}},
	} {
		a, err := s.Search(t.Context(), memory.Query{Text: "database", Filter: tc.filter})
		var got []string
		for _, d := range a.Degraded {
			if d.Code == memory.FilterExcludes {
				got = append(got, d.Text)
			}
		}
		if diff := cmp.Diff(tc.want, got); diff != "" || err != nil {
			t.Errorf("%+v: %v (-want +got):\n%s", tc.filter, err, diff)
		}
	}
}
