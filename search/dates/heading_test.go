package dates

import "testing"

func TestOfHeadings(t *testing.T) {
	t.Parallel()
	tests := []struct{ headings, fallback, want string }{
		{"# Log > ## 2023-05-08", "", "2023-05-08"},
		{"# Log > ## 2023-05-08 Standup", "2024-01-01", "2023-05-08"},
		{"# 2023-05-08 > ## 2023-05-09 > ### Lunch", "", "2023-05-09"},
		{"## 2023-02-30", "", ""},
		{"## 2023-05-08-draft", "", ""},
		{"## Monday, May 8, 2023", "", "2023-05-08"},
		{"## 2023年5月8日 会議", "", "2023-05-08"},
		{"## 令和5年5月8日", "", "2023-05-08"},
		{"## [2023-05-08] Trip", "2024-01-01", "2023-05-08"},
		{"## Plan for 2023-06-01", "2023-05-08", "2023-05-08"},
		{"## Plan for 2023-06-01", "", "2023-06-01"},
		{"## 2023-05-08 to 2023-05-10", "", ""},
		{"## 2023-05-08 - 12 new users", "", "2023-05-08"},
		{"## 2023-05-08 - July plans", "", "2023-05-08"},
		{"## 2023-05-08 (Monday)", "", "2023-05-08"},
		{"## 2023-05-08, 2023-05-10", "", ""},
		{"## May 8", "", ""},
		{"## Today, or 2023-05-08?", "", "2023-05-08"},
		{"## Yesterday in 2023", "2024-01-01", "2024-01-01"},
		{"## July 2023", "", ""},
		{"## Release 2023.5.8", "", ""},
		{"", "2024-01-01", "2024-01-01"},
	}
	for _, test := range tests {
		t.Run(test.headings, func(t *testing.T) {
			if got := OfHeadings(test.headings, test.fallback); got != test.want {
				t.Errorf("HeadingDate(%q, %q) = %q, want %q", test.headings, test.fallback, got, test.want)
			}
		})
	}
}

func FuzzOfHeadings(f *testing.F) {
	for _, seed := range []string{"# Log > ## 2023-05-08", "## Monday, May 8, 2023", "## 令和5年5月8日", "# 0000-00-00\xff > 9999-12-31"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, headings string) {
		if day := OfHeadings(headings, ""); day != "" && len(day) != len("2023-05-08") {
			t.Errorf("%q names %q", headings, day)
		}
	})
}

func TestMayNameYear(t *testing.T) {
	t.Parallel()
	for heading, want := range map[string]bool{
		"## 2026-01-20": true, "## 12026": true, "## 令和8年1月20日": true, "## 二〇二六年": true,
		"## 09:00 - topic": false, "## 202 6": false, "## May 8": false, "": false, "## ２０２６": false,
	} {
		t.Run(heading, func(t *testing.T) {
			if got := MayNameYear(heading); got != want {
				t.Errorf("MayNameYear(%q) = %v", heading, got)
			}
		})
	}
}

func BenchmarkOfHeadings(b *testing.B) {
	for name, heading := range map[string]string{"plain": "## 2023-05-08 Standup", "words": "## Monday, May 8, 2023", "none": "## Kettles"} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				OfHeadings(heading, "")
			}
		})
	}
}
