// Package chunker cuts Markdown into overlapping chunks of whole lines, sized in tokens.
//
// Lines are 1-based and inclusive, here and in every other package of Kioku, and are counted as
// sed -n counts them: only "\n" ends a line.
//
// Split has three steps. An outline turns the lines of a file into units: a line, a code fence, table or entry that fits
// into a chunk as a whole, or a part of a line that does not fit. Each unit is counted once. A packer then packs
// neighbouring units into chunks by prefix sums, and prefers to cut before headings. At last each chunk is counted as it
// is, because lines may have a token more together than one by one.
package chunker
