// Package files reads and writes files that other programs may change, replace or swap at any time: it opens regular files without
// following links, replaces and extends files so that nobody sees half of a change, and locks files between processes.
package files
