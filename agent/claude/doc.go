// Package claude is the memory tool of Claude's API (memory_20250818) over a folder of notes.
//
// The tool shows a model one folder, /memories, in which it may view, create, edit, delete and rename text files. Here that
// is the memory folder of a workspace, so that what the model writes as Markdown is indexed and recalled like every other
// note. The tool never leaves the folder: every path is checked, every access goes through os.Root, and symbolic links, hard
// links and whatever is not a plain file are left alone.
//
// Nothing is lost. What a command deletes or replaces is first written to a folder beside the workspace, to the disk, and
// stays there. Commands of several tools on one folder, in other processes too, wait for each other. A file of a day, to
// which MemoryAppend may be adding a note at the same moment, is edited in place under the lock that MemoryAppend takes;
// any other file is replaced by a new one in one step.
package claude
