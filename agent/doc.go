// Package agent is what runs beside an agent: the client of the memory service, and the tools that let a model use
// its memory.
//
// [Memory] is what an agent needs of its memory. [Dial] returns a [Client], which asks a service for it. [Tools] describes the tools to a model and [Call]
// runs them. The package needs no cgo and knows nothing of how a memory is kept.
package agent
