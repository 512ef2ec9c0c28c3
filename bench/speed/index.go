package speed

// indexBenches measure index.
func indexBenches() []Bench { return nil }
