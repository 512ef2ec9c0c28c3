// Package folder keeps the files of a council. Everything goes through os.Root, so that no name and no link leads out of the folder.
// What a member has said is published once, by link(2), and never changes; what follows from other files is replaced whole. A task is
// claimed by renaming its file.
package folder
