package kiokuv1

// Outcomes of MemoryAppend, BeginFlush and Compact.
const (
	// OutcomeWritten means that MemoryAppend wrote the note.
	OutcomeWritten = "written"
	// OutcomeDeduplicated means that the text or key of the note was there before, and MemoryAppend wrote nothing.
	OutcomeDeduplicated = "deduplicated"

	// OutcomeBegun means that BeginFlush began the flush of the cycle.
	OutcomeBegun = "begun"
	// OutcomeResumed means that the flush had begun before, and that its stored messages are in the response.
	OutcomeResumed = "resumed"
	// OutcomeDone means that the cycle was flushed before.
	OutcomeDone = "done"

	// OutcomeCompacted means that Compact made a summary.
	OutcomeCompacted = "compacted"
	// OutcomeNothing means that all messages are recent, and there is nothing to compact.
	OutcomeNothing = "nothing"
)
