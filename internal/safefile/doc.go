// Package safefile opens and reads the files of folders that other people and programs write to.
//
// Every access goes through an os.Root. A symbolic link in any component of a path, a file with a second name (hard
// link) and whatever is not a regular file are refused with a *SkipError, also when they are swapped in while the file
// is opened, and opening never waits for the other end of a pipe. The package only reads.
package safefile
