// Package resolve makes units of claims: which facts hold, from when to when, which have been superseded, which contradict each
// other, and which loops are open. Everything in it is a function of the set of claims in one slot and of the decisions of people
// about it. The order in which claims came does not matter, and a claim in one slot changes nothing in another.
//
// The claims of an exclusive slot (lives_in) are sorted by effective time: the From of a claim, else the time of its episode. The
// same object in a row is one fact; each fact ends where the next one starts; the same object after another one is a new fact. In a
// set (likes) every object is a fact of its own, and only the opposite predicate (dislikes) about the same object ends it. Of an
// event (first_met_at) the earliest is the fact.
//
// A claim ends a fact only if it has the authority: what an assistant or a tool said never ends what a person said, nothing said
// elsewhere ends a line that a person wrote in MEMORY.md or USER.md, and nothing ends a pinned fact, which outranks all others. Where a claim lacks it, where
// two claims have the same time, and where it is not known which of two is the later, both facts stay. Then the one with the most
// authority is validated and the others are in conflict; without such a one all are.
//
// The evidence of the units has lines relative to the episode, as claims have them, and no path. ID, Version, RecordedAt and
// ChangedAt are left zero: the store has them.
package resolve
