#ifndef KIOKU_SHM_H
#define KIOKU_SHM_H

/* The shared memory (-shm file) of a database that this process has mapped. Its connections share it. */
typedef struct Shm Shm;

/* kioku_shm_init installs the handler that keeps the process alive when another program cuts the file off. It returns 0 if
   the system refuses it. */
int kioku_shm_init(void);

/* kioku_shm_add notes that a connection has mapped the region of `size` bytes at `start`, for writing or not. *shm is that of the
   connection, NULL before its first region. It returns 0 if there is no memory. */
int kioku_shm_add(Shm **shm, volatile void *start, int size, int writable);

/* kioku_shm_stamp notes that a connection ends a write. shm may be NULL. */
void kioku_shm_stamp(Shm *shm);

/* kioku_shm_lost reports whether the file was cut off or overwritten while it was mapped. shm may be NULL. */
int kioku_shm_lost(Shm *shm);

/* kioku_shm_release ends the use of shm by a connection, before the system unmaps it. shm may be NULL. */
void kioku_shm_release(Shm *shm);

#endif
