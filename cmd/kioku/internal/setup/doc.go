// Package setup writes Kioku into the configuration of MCP clients, and takes it out again.
//
// A configuration belongs to its user. setup changes the few lines of one entry and leaves the rest as it is, byte for byte:
// comments, order, unknown keys, indentation, line ends, a byte order mark, the permissions, and a symbolic link. It keeps a
// copy of the file beside it, with which an undo restores the file exactly, or removes only the entry if the file has changed
// since. A file that it cannot read as its client does is refused and stays as it is.
package setup
