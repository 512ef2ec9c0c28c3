package local

// IsLoaded reports whether the weights of a model were read.
func IsLoaded(m *Model) bool { return m.table != nil || m.encoder != nil }
