// Package modelstore keeps the local models of a user: folders of files as Hugging Face publishes them, below the state folder.
//
// A model is added from a folder or a download. It is put together in a folder beside its place, checked there, and
// renamed when it is whole, so that a model is there as a whole or not at all. Its manifest records where its files came from and
// their checksums.
package modelstore
