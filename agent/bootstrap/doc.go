// Package bootstrap reads the files of a workspace that make an agent what it is, such as SOUL.md and AGENTS.md, and
// fits them into the room that a prompt has for them.
//
// [Loader.Load] looks at the disk every time and reads only what has changed. It never fails: a file that cannot be read is
// skipped, with the reason in its [File].
package bootstrap
