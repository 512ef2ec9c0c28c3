package buildflags

/*
#ifdef __has_include
#if !__has_include(<sqlite3.h>)
#error "Kioku: sqlite-vec needs sqlite3.h: run make install, or set CGO_CFLAGS as docs/install.md says, under go install"
#endif
#endif
*/
import "C"
