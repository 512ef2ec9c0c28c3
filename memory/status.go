package memory

// SkippedFile is a file that is not indexed, and why.
type SkippedFile struct {
	Path, Reason string
}
