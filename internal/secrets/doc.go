// Package secrets finds passwords, keys and tokens in text by their known shapes, and puts references in their place.
//
// It is made for notes and for text that is sent to other machines: a secret that it does not know stays, but ordinary text is
// left as it is. A reference tells the kind of a secret and, of a long one, its last four characters, and nothing else of it.
package secrets
