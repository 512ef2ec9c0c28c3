// Package config reads the settings of the kioku command.
//
// A setting comes from a flag, else from an environment variable KIOKU_..., else from the file of the workspace (see
// [FolderFile]), else from the YAML file of the user, else from the defaults of the packages that use it. Each setting is
// registered once on a flag set, with its key, default and documentation; [Fields] lists them, and docs/settings.md is generated
// from them. Nothing is guessed: an unknown key, a wrong type or a value out of range is an [Error] that says where it is and,
// for a key, which one was probably meant.
package config
