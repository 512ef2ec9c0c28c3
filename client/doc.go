// Package client is the client of a memory service over HTTP. [Dial] returns a [Client], which is a memory.Service: one
// agent's memory, kept by the service. The package needs no cgo and knows nothing of how a memory is kept.
package client
