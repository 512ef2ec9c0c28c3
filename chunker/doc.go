// Package chunker cuts Markdown into overlapping chunks of whole lines, sized in tokens.
//
// Lines are 1-based and inclusive, here and in every other package of Kioku, and are counted as
// sed -n counts them: only "\n" ends a line.
package chunker
