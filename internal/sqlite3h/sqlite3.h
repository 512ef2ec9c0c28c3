/* sqlite-vec includes <sqlite3.h>; this is go-sqlite3's own, under the name that it ships it by. */
#include "sqlite3-binding.h"
