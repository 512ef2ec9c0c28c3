package text_test

import (
	"testing"

	"kioku/internal/text"
)

func TestNewInATestFindsAWrongExpression(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("( is an expression")
		}
	}()
	text.NewRegexp("(")
}

func TestRegexpMatches(t *testing.T) {
	if r := text.NewRegexp(`(\d+) tea`); !r.MatchString("3 tea") || r.FindStringSubmatch("12 tea")[1] != "12" {
		t.Error("3 tea and 12 tea are not found")
	}
}
