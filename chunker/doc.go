// Package chunker cuts Markdown into overlapping chunks of whole lines, sized in tokens.
//
// Lines are 1-based and inclusive, here and in every other package of Kioku, and are counted as
// sed -n counts them: only "\n" ends a line.
//
// A file goes through three steps. An outline makes units of its lines: a line, a code fence, table or entry
// that fits into a chunk as a whole, or a part of a line that doesn't. Each is counted once. A walk then packs
// neighbouring units into chunks by prefix sums, and prefers to cut before headings. At last each chunk is counted
// as it is, because lines may have a token more together than one by one.
package chunker
