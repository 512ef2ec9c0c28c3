package compact

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestIdentifiersInAnyLanguage(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"see https://example.com/a?b=1#c. Then (http://x.io/y), ok":     {"http://x.io/y", "https://example.com/a?b=1#c"},
		"詳しくはhttps://example.com/a/bを見てください。":                           {"https://example.com/a/b"},
		"open /etc/nginx/nginx.conf and ~/notes, not and/or":            {"/etc/nginx/nginx.conf", "~/notes"},
		"設定は/etc/hosts.dにあり、src/app/main.goを直す。":                        {"/etc/hosts.d", "src/app/main.go"},
		`in C:\Users\kai\todo.txt.`:                                     {`C:\Users\kai\todo.txt`},
		"ask mei.lin@example.co.jp":                                     {"mei.lin@example.co.jp"},
		"commit 4f2a9c1 and 1234567 and defaced":                        {"4f2a9c1"},
		"id 123e4567-e89b-12d3-a456-426614174000 is ours":               {"123e4567-e89b-12d3-a456-426614174000"},
		"ABC-123, #42, cus_9f2Kd and sess-2026x":                        {"#42", "ABC-123", "cus_9f2Kd", "sess-2026x"},
		"on 2026-03-05, at 2026-03-05T10:20:30Z or May 3, 2026":         {"2026-03-05", "2026-03-05T10:20:30Z", "May 3, 2026"},
		"締め切りは2026年3月5日、次は４月１２日です":                                      {"2026年3月5日", "４月１２日"},
		"会议在3月8号下午14:30，预算12万元":                                         {"12万元", "14:30", "3月8号"},
		"it took 120ms, 3.5 GB and 40 minutes of 99.5%, cost $1,200.50": {"$1,200.50", "120ms", "3.5 GB", "40 minutes", "99.5%"},
		"会費は5,000円、参加者は12名で30分":                                         {"12名", "30分", "5,000円"},
		"upgrade to v1.14.52 on 127.0.0.1:8080":                         {"127.0.0.1:8080", "v1.14.52"},
		"nothing here, just 5 words and 3 more":                         {},
		"3 milk and 4 humans":                                           {},
	} {
		got := identifiers([]block{{text: text, weight: 1}})
		slices.Sort(got)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q: %s", text, diff)
		}
	}
}

func TestIdentifiersAreTheTwelveThatCountMost(t *testing.T) {
	t.Parallel()
	var blocks []block
	for i := range 100 {
		blocks = append(blocks, block{text: fmt.Sprintf("result of /var/log/app-%d.log took %d ms", i, i+10), weight: 1})
	}
	blocks = slices.Insert(blocks, 50, block{text: "the user says: ticket ABC-77 by 2026-05-01", weight: 4})
	got := identifiers(blocks)
	if len(got) != 12 || !slices.Contains(got, "ABC-77") || !slices.Contains(got, "2026-05-01") || !slices.Contains(got, "/var/log/app-99.log") {
		t.Errorf("chosen %q", got)
	}
	if again := identifiers(blocks); !slices.Equal(got, again) {
		t.Errorf("chosen %q, then %q", got, again)
	}
	if slices.Index(got, "ABC-77") > slices.Index(got, "/var/log/app-99.log") {
		t.Errorf("%q are not in the order of the conversation", got)
	}
}

func TestIdentifiersLeaveOutWhatNobodyCouldCopy(t *testing.T) {
	t.Parallel()
	if got := identifiers([]block{{text: "https://example.com/" + strings.Repeat("x1/", 100), weight: 4}}); len(got) > 0 {
		t.Errorf("chosen %q", got)
	}
}

func TestIdentifiersAreCheckedLetterForLetter(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		summary, id string
		there       bool
	}{
		{"ticket `ABC-12`.", "ABC-12", true},
		{"ticket abc-12", "ABC-12", false},
		{"ticket ABC-123", "ABC-12", false},
		{"ABC-123, then ABC-12", "ABC-12", true},
		{"112 ms", "12 ms", false},
		{"会費5,000円", "5,000円", true},
		{"会費は５，０００円", "5,000円", false},
		{"期日2026年3月5日まで", "2026年3月5日", true},
		{"2026/03/05", "2026-03-05", false},
		{"", "x-1", false},
	} {
		if got := len(missing(tt.summary, []string{tt.id})) == 0; got != tt.there {
			t.Errorf("%q in %q: %v", tt.id, tt.summary, got)
		}
	}
}

func FuzzIdentifiersStandInTheirText(f *testing.F) {
	f.Add("https://example.com/aを、/etc/hosts 2026年3月5日 120ms #4")
	f.Add("\xff12%\x00v1.2.3")
	f.Fuzz(func(t *testing.T, text string) {
		ids := identifiers([]block{{text: text, weight: 1}})
		if lost := missing(text, ids); len(lost) > 0 || len(ids) > maxIdentifiers {
			t.Fatalf("%q: %q of %q are not in it", text, lost, ids)
		}
	})
}
