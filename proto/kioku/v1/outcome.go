package kiokuv1

// Outcomes of MemoryAppend, flushes, ends of sessions and compactions.
const (
	// OutcomeWritten means that MemoryAppend wrote the note.
	OutcomeWritten = "written"
	// OutcomeDeduplicated means that the text or key of the note was there before, and MemoryAppend wrote nothing.
	OutcomeDeduplicated = "deduplicated"

	// OutcomeBegun means that BeginFlush began a range.
	OutcomeBegun = "begun"
	// OutcomeDone means that Flush has covered all messages.
	OutcomeDone = "done"
	// OutcomeSkipped means that Flush is impossible or has to wait.
	OutcomeSkipped = "skipped"
	// OutcomeFailed means that Flush has covered not all messages.
	OutcomeFailed = "failed"

	// OutcomeCompacted means that Compact made a summary.
	OutcomeCompacted = "compacted"
	// OutcomeKept means that EndSession has the messages on disk, for a later flush.
	OutcomeKept = "kept"
	// OutcomeNext means that CommitCompact returned the next question.
	OutcomeNext = "next"
	// OutcomeNothing means that all messages are covered, and there is nothing to flush, or that Compact can drop nothing.
	OutcomeNothing = "nothing"
)
