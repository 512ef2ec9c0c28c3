// Package council contains the records of a council: several agents that decide over a shared memory. A council is a folder of
// JSON files; what state a task is in follows from which files exist. The packages below it keep the folder (folder), say what
// comes next (flow), ask the members (member) and do it (engine).
package council
