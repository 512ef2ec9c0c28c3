// Package bench measures retrieval. It indexes workspaces whose questions have known answers, searches for each question,
// and reports how much of the evidence the results contain.
//
// A set is a folder with ws/<workspace>/ and queries.jsonl; docs/bench.md explains how to make one of your own notes. A
// result hits an evidence if both are in one file and the lines that they share are at least half of the evidence or at
// least half of the result. Each evidence counts once, at its first hit. Lines are 1-based and inclusive, characters are
// code points.
package bench
