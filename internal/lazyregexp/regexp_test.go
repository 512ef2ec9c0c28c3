package lazyregexp_test

import (
	"testing"

	"kioku/internal/lazyregexp"
)

func TestNewInATestFindsAWrongExpression(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("( is an expression")
		}
	}()
	lazyregexp.New("(")
}

func TestRegexpMatches(t *testing.T) {
	if r := lazyregexp.New(`(\d+) tea`); !r.MatchString("3 tea") || r.FindStringSubmatch("12 tea")[1] != "12" || r.String() != `(\d+) tea` {
		t.Error(r)
	}
}
