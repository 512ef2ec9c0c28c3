package council

import "strings"

// Price of a model in US dollars per million tokens.
type Price struct {
	Input      float64 `yaml:"input"`      // of a prompt
	Output     float64 `yaml:"output"`     // of a reply
	CacheRead  float64 `yaml:"cacheRead"`  // of what the provider has cached; 0 means Input
	CacheWrite float64 `yaml:"cacheWrite"` // of what it caches; 0 means Input
}

// PriceOf returns the price of a model, by its name or by the one behind the first colon: "anthropic:NAME" has the price of NAME.
func (s Settings) PriceOf(model string) (Price, bool) {
	if p, ok := s.Prices[model]; ok {
		return p, true
	}
	_, behind, _ := strings.Cut(model, ":")
	p, ok := s.Prices[behind]
	return p, ok
}

// Plus returns the sum of two usages.
func (u Usage) Plus(v Usage) Usage {
	return Usage{Calls: u.Calls + v.Calls, TokensIn: u.TokensIn + v.TokensIn, TokensOut: u.TokensOut + v.TokensOut, Cost: u.Cost + v.Cost}
}
