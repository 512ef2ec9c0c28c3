package speed

// searchBenches measure search.
func searchBenches() []Bench { return nil }
