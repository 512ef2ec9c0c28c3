// Package engine runs a council: it holds the lock of the folder, looks at what is on disk, has package flow say what comes next, and
// does it. What a member says is asked by package member and only written down; no text changes a state.
package engine
