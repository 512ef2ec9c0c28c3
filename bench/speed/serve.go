package speed

// serveBenches measure serve.
func serveBenches() []Bench { return nil }
