// Package decision reads and writes derived/decisions.md: what people have decided about derived memory. The file is the truth
// about it. Kioku only appends to it, and people may edit it: whoever deletes a line takes a decision back.
//
// A decision is one line, and a later one outranks an earlier one:
//
//   - 2026-11-20 pin fact 3f9a...        (32 digits: the UID of a unit or an entity)
//   - 2026-11-20 pin fact 3f9a... over 77b0...    (a fact with which it was in conflict)
//   - 2026-11-20 forget fact 9f3c...     (64 digits: the hash of the key of what is forgotten)
//   - 2026-11-20 correct fact 3f9a... {"text":"Porto","from":"2026-10"} : the old one was a typo
//   - 2026-11-20 sensitivity loop 3f9a... private
//   - 2026-11-20 merge entity 3f9a... into 77b0...
//
// The verbs are pin, unpin, forget, correct, close, reopen, merge, split and sensitivity. What follows " : " is a note for people.
package decision
