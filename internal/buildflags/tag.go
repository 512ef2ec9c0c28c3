//go:build !sqlite_fts5 && !fts5

package buildflags

// The compiler prints this line.
var _ = kioku_needs_the_build_tag_sqlite_fts5___run_make_install_or_see_docs_install_md
