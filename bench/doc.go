// Package bench measures retrieval: it indexes workspaces whose questions have known answers, asks through the normal
// search, and says how much of the evidence came back.
//
// A set is a folder with ws/<workspace>/ and queries.jsonl; docs/bench.md tells how to make one of one's own notes. A
// result hits an evidence when both lie in one file and the lines they share are at least half of the evidence or at
// least half of the result. Each evidence counts once, at its first hit. Lines are 1-based and inclusive, characters are
// code points.
package bench
