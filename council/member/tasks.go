package member

import "fmt"

func opinionTask(q Question) string {
	s := fmt.Sprintf("This is round %d of at most %d. ", max(q.Round, 1), max(q.MaxRounds, q.Round, 1))
	if len(q.Rounds) == 0 {
		return s + "Nobody has voted yet: you judge alone. Vote on the task and say why."
	}
	why := "The rounds before it had no majority."
	if q.Cycle > 1 {
		why = "An owner has asked for a further round; the comments may say why."
	}
	return s + why + " Read the opinions above, also for what you have missed; keep your view or change it, and say why. Vote on the task."
}

func arbitrationTask(Question) string {
	return "The council has found no majority in its last round. You are the arbiter: weigh the opinions above and decide. " +
		"If the arguments leave a serious risk open, or if you cannot decide, reject."
}

func announcementTask(q Question) string {
	return fmt.Sprintf("The task is decided: %s. Announce it to the people who wait for it. You report the decision; you cannot change it, and the text must not contradict it. Name the dissent, if there was any.",
		q.Decision.Decision)
}

func answerTask(q Question) string {
	if len(q.Problems) > 0 {
		return "A reviewer has found problems in the earlier result above. Write the whole result again, with each problem repaired."
	}
	return "The task is approved. Do it now, by the approach that was decided, as a text: the whole answer or result. Say plainly what you could not do or do not know."
}

func reviewTask(Question) string {
	return "Check whether the result above does what was decided, completely and correctly. If you cannot tell, it fails."
}

func evaluationTask(q Question) string {
	return fmt.Sprintf("Rate the member %q by the ballots above and by what has become of the decisions. Suggest other parameters only if a pattern in several ballots calls for it, and move each by at most 0.2.", q.Target)
}

func suggestionTask(Question) string {
	return "A worker suggests the task above. Approve it only if it is clear, harmless and worth the council's time. Your approval does not decide the task; it only lets it go on."
}

func actionTask(Question) string {
	return "A member requests the protected action above, for a task that the council has approved. Approve it only if the decision really calls for this action and the reason is sound. If in doubt, decline."
}

func reflectionTask(Question) string {
	return "The task is decided. Write what you yourself should remember from it for later judgements: one or two sentences about the matter, no praise. If there is nothing, the note is \"NO_REPLY\"."
}
