// Package claude is the memory tool of Claude's API (memory_20250818) over a folder of notes.
//
// The tool shows a model one folder, /memories, in which it may view, create, edit, delete and rename text files. Here that
// is the memory folder of a workspace, so that the Markdown that the model writes is indexed and recalled like every other
// note. The tool never leaves the folder: every path is checked, every access goes through os.Root, and symbolic links, hard
// links and whatever is not a regular file are left alone.
//
// Nothing is lost. Text that a command deletes or replaces is first copied to a folder beside the workspace and stays there. The
// file of a day (YYYY-MM-DD.md), to which MemoryAppend may be adding a note at the same moment, is append-only: it can be created, and text can be inserted after its last line, under the lock that MemoryAppend takes. Any
// other file is replaced by a new one in one step. Commands of several tools on one folder, in other processes too, wait for
// each other.
package claude
