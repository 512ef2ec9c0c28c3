package analysis

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestIdentifiers(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"who fixed a828e60?":                      "a828e60",
		"does memorySearch.query return INV-2026": "memorysearch.query inv2026",
		"error ERR_4012 or E4012":                 "err_4012 e4012",
		"in a828e60.txt":                          "a828e60.txt",
		"請求書INV-2026-0042の期限":                     "inv20260042",
		"错误 0x80070005 怎么办":                       "0x80070005",
		"ENOENT in deadbeef, order 4711":          "enoent deadbeef 4711",
		"错误 ENOENT 出现":                            "enoent",
		"config.yaml of example.com, or .env":     "config.yaml example.com .env",
		"10.0.0.1, fe80::1 and a@b.example":       "10.0.0.1 fe80::1 a@b.example",
		"call readFileSync in std::vector":        "readfilesync std::vector",
		"HTTP and JSON beside EPERM":              "eperm",
		"the parts of order-4711":                 "order4711",
		"2025 or 2026-01-20":                      "2026-01-20",
		"WHY DID THE SERVER CRASH":                "",
		"the 20th of 500ml, v2 in q3":             "",
		"a well-known input/output error":         "",
		"e.g. at 10:30 p.m. in the U.S. or U.S.A": "",
		"1.5 hours, 24/7, a 5-year-old":           "",
		"that is the end.start again, note:this":  "",
		"YouTube on an iPhone at McDonald's":      "",
		"GitHub on macOS with eBay, C++ and F#":   "",
		"昨日の会議":                                   "",
	} {
		t.Run(text, func(t *testing.T) {
			a := NewAnalyzer()
			a.Add(text)
			got := slices.Compact(slices.Sorted(slices.Values(a.Identifiers())))
			a.Release()
			if diff := cmp.Diff(slices.Sorted(slices.Values(strings.Fields(want))), got, cmp.Comparer(func(a, b []string) bool { return slices.Equal(a, b) })); diff != "" {
				t.Errorf("%s (-want +got):\n%s", text, diff)
			}
		})
	}
}
