#include "vfs.h"
#include "shm.h"

#include <stdlib.h>
#include <string.h>

#include "sqlite3.h"
#include "_cgo_export.h"

#ifndef SQLITE_IOCAP_SUBPAGE_READ // headers before SQLite 3.48
#define SQLITE_IOCAP_SUBPAGE_READ 0x00008000
#endif

/* A file of this VFS. The file of the system's VFS follows it in memory. */
typedef struct File {
  sqlite3_file base;
  int64_t record;      /* names the file to Go, 0 if its pages have no checksums */
  uint64_t id;         /* of the database */
  const char *name;    /* as SQLite named it, which outlives the file; NULL for a temporary one */
  unsigned char *page; /* the page that is written, with its checksum */
  Shm *shm;            /* NULL before SQLite maps it */
} File;

static sqlite3_vfs *system_vfs;
static sqlite3_vfs checksum_vfs;
static int faults;

#define SYSTEM(f) ((sqlite3_file *)((File *)(f) + 1))
#define METHODS(f) (SYSTEM(f)->pMethods)

static const uint64_t prime1 = 0x9E3779B185EBCA87ULL, prime2 = 0xC2B2AE3D27D4EB4FULL;

static uint64_t mix(uint64_t sum, uint64_t word) {
  sum += word * prime2;
  return (sum << 31 | sum >> 33) * prime1;
}

static uint64_t word(const unsigned char *p) {
  uint64_t w;
  memcpy(&w, p, 8);
  return w;
}

/* Four sums at the same time, as xxHash does, because the processor can work on them in parallel. */
uint64_t kioku_sum(const void *data, uint32_t page) {
  const unsigned char *p = data, *end = p + KIOKU_PAGE - 8;
  uint64_t a = page + prime1 + prime2, b = page + prime2, c = page, d = page - prime1;
  for (; p + 32 <= end; p += 32) {
    a = mix(a, word(p));
    b = mix(b, word(p + 8));
    c = mix(c, word(p + 16));
    d = mix(d, word(p + 24));
  }
  for (; p < end; p += 8) a = mix(a, word(p));
  a = mix(mix(mix(a, b), c), d);
  a ^= a >> 29;
  a *= prime2;
  return a ^ a >> 32;
}

void kioku_faults(int on) { __atomic_store_n(&faults, on, __ATOMIC_SEQ_CST); }

/* fault asks Go whether an operation is to fail, if a test wants that. */
static int fault(sqlite3_file *f, int op, int n) {
  if (!__atomic_load_n(&faults, __ATOMIC_RELAXED)) return SQLITE_OK;
  return kiokuFault((char *)((File *)f)->name, op, n);
}

static int is_page(File *f, int n, sqlite3_int64 offset) {
  return f->record != 0 && n == KIOKU_PAGE && offset % KIOKU_PAGE == 0;
}

static int file_read(sqlite3_file *sf, void *data, int n, sqlite3_int64 offset) {
  File *f = (File *)sf;
  uint32_t page;
  uint64_t id, sum;
  int rc = METHODS(sf)->xRead(SYSTEM(sf), data, n, offset);
  if (!is_page(f, n, offset) || (rc != SQLITE_OK && rc != SQLITE_IOERR_SHORT_READ)) return rc;
  page = (uint32_t)(offset / KIOKU_PAGE + 1);
  memcpy(&id, (char *)data + KIOKU_PAGE - KIOKU_RESERVE, 8);
  memcpy(&sum, (char *)data + KIOKU_PAGE - 8, 8);
  if (rc == SQLITE_OK && id == f->id && sum == kioku_sum(data, page)) return SQLITE_OK;
  kiokuBadPage(f->record, page);
  return SQLITE_IOERR_DATA;
}

static int file_write(sqlite3_file *sf, const void *data, int n, sqlite3_int64 offset) {
  File *f = (File *)sf;
  uint64_t sum;
  int rc = fault(sf, KIOKU_WRITE, n);
  if (rc != SQLITE_OK) return rc;
  if (is_page(f, n, offset)) {
    memcpy(f->page, data, KIOKU_PAGE - KIOKU_RESERVE);
    memcpy(f->page + KIOKU_PAGE - KIOKU_RESERVE, &f->id, 8);
    sum = kioku_sum(f->page, (uint32_t)(offset / KIOKU_PAGE + 1));
    memcpy(f->page + KIOKU_PAGE - 8, &sum, 8);
    data = f->page;
  }
  return METHODS(sf)->xWrite(SYSTEM(sf), data, n, offset);
}

static int file_sync(sqlite3_file *f, int flags) {
  int rc = fault(f, KIOKU_SYNC, 0);
  return rc != SQLITE_OK ? rc : METHODS(f)->xSync(SYSTEM(f), flags);
}

static int file_close(sqlite3_file *f) {
  free(((File *)f)->page);
  return METHODS(f)->xClose(SYSTEM(f));
}

/* A page is read as a whole, or its checksum could not be verified. */
static int file_device(sqlite3_file *f) {
  return METHODS(f)->xDeviceCharacteristics(SYSTEM(f)) & ~SQLITE_IOCAP_SUBPAGE_READ;
}

/* shm_lost reports whether the shared memory was cut off or overwritten, and tells Go. */
static int shm_lost(File *f) {
  if (!kioku_shm_lost(f->shm)) return 0;
  kiokuLostShm(f->record);
  return 1;
}

static int shm_map(sqlite3_file *sf, int i, int n, int extend, void volatile **out) {
  File *f = (File *)sf;
  int rc = METHODS(sf)->xShmMap(SYSTEM(sf), i, n, extend, out);
  if (*out == 0 || kioku_shm_add(&f->shm, *out, n, rc == SQLITE_OK)) return rc;
  *out = 0;
  return SQLITE_NOMEM;
}

/* Each transaction and checkpoint begins and ends with a lock; lock 0 is that of a write. None begins with a shared memory that
   was cut off or overwritten: it lacks pages of the log, and other processes may see another one. */
static int shm_lock(sqlite3_file *f, int offset, int n, int flags) {
  int lost = shm_lost((File *)f);
  if (lost && flags & SQLITE_SHM_LOCK) return SQLITE_IOERR_DATA;
  if (offset == 0 && flags & SQLITE_SHM_UNLOCK) kioku_shm_stamp(((File *)f)->shm);
  return METHODS(f)->xShmLock(SYSTEM(f), offset, n, flags);
}

static int shm_unmap(sqlite3_file *sf, int remove) {
  File *f = (File *)sf;
  shm_lost(f);
  kioku_shm_release(f->shm);
  f->shm = 0;
  return METHODS(sf)->xShmUnmap(SYSTEM(sf), remove);
}

/* The other methods are those of the system. */
static int file_truncate(sqlite3_file *f, sqlite3_int64 n) { return METHODS(f)->xTruncate(SYSTEM(f), n); }
static int file_size(sqlite3_file *f, sqlite3_int64 *n) { return METHODS(f)->xFileSize(SYSTEM(f), n); }
static int file_lock(sqlite3_file *f, int lock) { return METHODS(f)->xLock(SYSTEM(f), lock); }
static int file_unlock(sqlite3_file *f, int lock) { return METHODS(f)->xUnlock(SYSTEM(f), lock); }
static int file_reserved(sqlite3_file *f, int *out) { return METHODS(f)->xCheckReservedLock(SYSTEM(f), out); }
static int file_control(sqlite3_file *f, int op, void *arg) { return METHODS(f)->xFileControl(SYSTEM(f), op, arg); }
static int file_sector(sqlite3_file *f) { return METHODS(f)->xSectorSize(SYSTEM(f)); }
static void shm_barrier(sqlite3_file *f) { METHODS(f)->xShmBarrier(SYSTEM(f)); }

/* Version 2 has no xFetch: a page of a mapped file has no checksum, and is gone when another program cuts the file off. */
static const sqlite3_io_methods methods = {
    2,           file_close, file_read,    file_write,   file_truncate, file_sync,   file_size, file_lock,  file_unlock,
    file_reserved, file_control, file_sector, file_device, shm_map,       shm_lock, shm_barrier, shm_unmap, 0, 0};

static int vfs_open(sqlite3_vfs *vfs, sqlite3_filename name, sqlite3_file *sf, int flags, int *out) {
  File *f = (File *)sf;
  int rc;
  memset(f, 0, sizeof *f);
  if (flags & SQLITE_OPEN_MAIN_DB) {
    const char *id = sqlite3_uri_parameter(name, "kioku_id");
    f->record = sqlite3_uri_int64(name, "kioku_record", 0);
    if (id == 0) f->record = 0;
    else f->id = strtoull(id, 0, 16);
  }
  if (f->record != 0 && (f->page = malloc(KIOKU_PAGE)) == 0) return SQLITE_NOMEM;
  f->name = name;
  rc = system_vfs->xOpen(system_vfs, name, SYSTEM(f), flags, out);
  if (METHODS(f) != 0) {
    f->base.pMethods = &methods;
  } else {
    free(f->page);
  }
  return rc;
}

int kioku_register(void) {
  system_vfs = sqlite3_vfs_find(0);
  if (system_vfs == 0 || !kioku_shm_init()) return SQLITE_ERROR;
  checksum_vfs = *system_vfs;
  checksum_vfs.szOsFile = (int)sizeof(File) + system_vfs->szOsFile;
  checksum_vfs.zName = "kioku";
  checksum_vfs.xOpen = vfs_open;
  checksum_vfs.pNext = 0;
  return sqlite3_vfs_register(&checksum_vfs, 0);
}
