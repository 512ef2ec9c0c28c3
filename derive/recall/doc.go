// Package recall answers a query with the conversation before it, and with what was derived from notes. It wraps the ordinary search
// of a memory: a message that points at something said before is searched for with the messages before it too, facts, loops and
// summaries are found by names and words, what is weak does not belong into a prompt unasked, and what lies above a ceiling
// of sensitivity is left out. A query that asks for none of it gets the answer of the ordinary search. See DESIGN.md.
package recall
