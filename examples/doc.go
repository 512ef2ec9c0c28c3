// Package examples has no code of its own: it is the place of a workspace to try Kioku with, of the questions of its
// benchmark, and of agents in other languages, which its tests run.
package examples
