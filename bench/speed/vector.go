package speed

// vectorBenches measure vector.
func vectorBenches() []Bench { return nil }
