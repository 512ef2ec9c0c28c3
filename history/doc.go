// Package history reads the versions of a folder of notes: from the repository of git that the folder is in, or from a
// journal that Kioku keeps ([Journal]), which is one too. That of the folder is only read, by the program git without the settings of anybody, so that
// nothing in it runs a program, asks a question or goes to the network; DESIGN.md says why it is git and no library.
package history
