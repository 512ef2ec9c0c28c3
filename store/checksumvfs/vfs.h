#ifndef KIOKU_CHECKSUMVFS_H
#define KIOKU_CHECKSUMVFS_H

#include <stdint.h>

/* The end of each page: the id of its file and the checksum of the page, both little-endian as on the machine. */
#define KIOKU_PAGE 4096
#define KIOKU_RESERVE 16

/* Operations that a test can let fail. */
enum { KIOKU_WRITE, KIOKU_SYNC };

/* kioku_register adds the VFS "kioku" to SQLite. It returns a result code of SQLite. */
int kioku_register(void);

/* kioku_sum returns the checksum of page number `page`: of all its bytes but the last 8, and of the number. */
uint64_t kioku_sum(const void *data, uint32_t page);

/* kioku_faults says whether writes and syncs ask kiokuFault first. */
void kioku_faults(int on);

#endif
