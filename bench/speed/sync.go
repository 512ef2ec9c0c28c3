package speed

// syncBenches measure sync.
func syncBenches() []Bench { return nil }
