// Package agent is what runs beside an agent: the client of the memory service, and the tools that let a model use
// its memory.
//
// [Dial] returns a [Client], which speaks for one agent. [Tools] describes the tools to a model and [Client.Call]
// runs them. The package needs no cgo and knows nothing of how a memory is kept.
package agent
