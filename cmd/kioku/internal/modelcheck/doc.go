// Package modelcheck finds out what an embedding model knows: it embeds pairs of sentences that say the same in other words, in
// several languages, and looks whether each is nearer to its partner than to the others.
package modelcheck
