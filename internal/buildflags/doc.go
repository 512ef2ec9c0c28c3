// Package buildflags fails a build that lacks the tag or the header that SQLite and sqlite-vec need, with an error that says what to do.
package buildflags
