package analysis

import "testing"

func TestNameKeyIgnoresHowANameIsWritten(t *testing.T) {
	t.Parallel()
	for _, same := range [][]string{
		{"git_amend-author", "Git: amend author", "git amend  author"},
		{"Käsespätzle", "Ka\u0308sespa\u0308tzle", "KASESPATZLE"},
		{"伏見稲荷 大社", "伏見稲荷大社", "「伏見稲荷大社」"},
		{"C++", "c++"},
	} {
		for _, name := range same[1:] {
			if NameKey(name) != NameKey(same[0]) {
				t.Errorf("NameKey(%q) differs from that of %q", name, same[0])
			}
		}
	}
	for _, other := range []string{"git amend authors", "C", "C#", "Käse", "", "!?"} {
		if NameKey(other) == NameKey("C++") || NameKey(other) == NameKey("git amend author") {
			t.Errorf("NameKey(%q) is that of another name", other)
		}
	}
	if key := NameKey(" -- "); key != "" {
		t.Errorf("NameKey of no word = %q, want none", key)
	}
}

func TestNameKeyIsNoTermOfAText(t *testing.T) {
	t.Parallel()
	for _, term := range Terms(NameKey("boiler") + " x" + NameKey("boiler")) {
		if term == NameKey("boiler") {
			t.Errorf("a text has the term %q", term)
		}
	}
}
