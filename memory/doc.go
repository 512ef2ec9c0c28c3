// Package memory is the vocabulary that all parts of Kioku share: what is asked of a memory, what it answers, and the errors
// that it returns. It imports nothing.
package memory
