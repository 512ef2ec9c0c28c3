// Package vectors keeps the vectors that were paid for, in a file of their own, and buys those that an index lacks. DESIGN.md says how.
package vectors
