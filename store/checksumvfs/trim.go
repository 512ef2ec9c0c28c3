package checksumvfs

// #include <stdlib.h>
// #ifdef __GLIBC__
// #include <malloc.h>
// #endif
// static void trim(void) {
// #ifdef __GLIBC__
//   malloc_trim(0);
// #endif
// }
import "C"

// Trim gives memory that SQLite has freed back to the system, which the C library would keep.
func Trim() { C.trim() }
