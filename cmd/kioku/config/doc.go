// Package config reads the settings of the kioku command.
//
// A setting comes from a flag, else from an environment variable KIOKU_..., else from a YAML file, else from the
// defaults of the packages that use it. One table, [Fields], describes every setting: it drives all four, the
// listing of where a value came from, and the table in the README. Nothing is guessed: an unknown key, a wrong type
// or a value out of range is an [Error] that says where it stands and, for a key, which one was probably meant.
package config
