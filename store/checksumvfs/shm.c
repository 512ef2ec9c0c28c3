#include "shm.h"

#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

/* SQLite keeps 8 bytes of the first region free. They contain a stamp that grows with each write, from the time at which the file
   was made: a file of zeros or of a backup has a smaller one. */
#define STAMP 120

struct Shm {
  int users;       /* connections; guarded by mutex */
  int lost;        /* atomic */
  uint64_t *stamp; /* atomic, in the first region; NULL if it cannot be written */
  uint64_t seen;   /* atomic; the last stamp */
};

/* A mapped part of a shared memory. Regions are only added to the list and never freed, because the handler may read it at any
   time; one whose start is 0 is used again. */
typedef struct Region {
  struct Region *next;
  uintptr_t start; /* atomic; 0 if the region is free */
  int size;
  Shm *shm;
} Region;

static Region *regions; /* atomic */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct sigaction previous;
static uintptr_t page_size; /* of the system */

static Region *find_region(uintptr_t address) {
  Region *r = __atomic_load_n(&regions, __ATOMIC_ACQUIRE);
  for (; r != 0; r = r->next) {
    uintptr_t start = __atomic_load_n(&r->start, __ATOMIC_ACQUIRE);
    if (start != 0 && address - start < (uintptr_t)r->size) return r;
  }
  return 0;
}

/* forward calls the handler that was installed before, which is that of Go. */
static void forward(int sig, siginfo_t *info, void *context) {
  if (previous.sa_flags & SA_SIGINFO) {
    previous.sa_sigaction(sig, info, context);
  } else if (previous.sa_handler == SIG_DFL || previous.sa_handler == SIG_IGN) {
    signal(sig, SIG_DFL); /* the instruction runs again, and ends the process */
  } else {
    previous.sa_handler(sig);
  }
}

/* handle puts zeros in the place of a page of a region whose file was cut off. The instruction runs again. */
static void handle(int sig, siginfo_t *info, void *context) {
  Region *r = info->si_code > 0 ? find_region((uintptr_t)info->si_addr) : 0; /* otherwise a process has sent the signal */
  if (r == 0) {
    forward(sig, info, context);
    return;
  }
  __atomic_store_n(&r->shm->lost, 1, __ATOMIC_SEQ_CST);
  void *page = (void *)((uintptr_t)info->si_addr & ~(page_size - 1));
  if (mmap(page, page_size, PROT_READ | PROT_WRITE, MAP_FIXED | MAP_PRIVATE | MAP_ANON, -1, 0) == MAP_FAILED) {
    forward(sig, info, context);
  }
}

int kioku_shm_init(void) {
  struct sigaction action = {0};
  page_size = sysconf(_SC_PAGESIZE);
  action.sa_sigaction = handle;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART; /* as Go demands: its stacks are too small for a handler */
  sigfillset(&action.sa_mask);
  return sigaction(SIGBUS, 0, &previous) == 0 && sigaction(SIGBUS, &action, 0) == 0;
}

/* new_region returns a free region, NULL if there is no memory. The caller has locked mutex. */
static Region *new_region(void) {
  Region *r = regions;
  while (r != 0 && r->start != 0) r = r->next;
  if (r != 0 || (r = calloc(1, sizeof *r)) == 0) return r;
  r->next = regions;
  __atomic_store_n(&regions, r, __ATOMIC_RELEASE);
  return r;
}

/* start_stamp reads the stamp of a shared memory, and sets it if there is none yet. The first region has been added, so that the
   file may be cut off meanwhile. */
static void start_stamp(Shm *shm, volatile void *first) {
  uint64_t *stamp = (uint64_t *)((char *)first + STAMP), none = 0;
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  __atomic_compare_exchange_n(stamp, &none, now.tv_sec * 1000000000ULL + now.tv_nsec, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
  shm->seen = __atomic_load_n(stamp, __ATOMIC_SEQ_CST);
  shm->stamp = stamp;
}

/* add_region adds a region of shm that begins at start. It returns 0 if there is no memory. The caller has locked mutex. */
static int add_region(Shm *shm, volatile void *start, int size) {
  Region *r = new_region();
  if (r == 0) return 0;
  r->size = size;
  r->shm = shm;
  __atomic_store_n(&r->start, (uintptr_t)start, __ATOMIC_RELEASE);
  return 1;
}

int kioku_shm_add(Shm **shm, volatile void *start, int size, int writable) {
  int ok = 1;
  pthread_mutex_lock(&mutex);
  Region *r = find_region((uintptr_t)start);
  int first = r == 0 && *shm == 0; /* SQLite maps the first region first */
  if (*shm == 0) {
    *shm = r != 0 ? r->shm : calloc(1, sizeof **shm);
    if (*shm != 0) (*shm)->users++;
  }
  if (r == 0) ok = *shm != 0 && add_region(*shm, start, size);
  if (ok && first && writable) start_stamp(*shm, start);
  pthread_mutex_unlock(&mutex);
  return ok;
}

/* The stamp grows before `seen`, and is read after it, so that a write at the same time is no loss. */
int kioku_shm_lost(Shm *shm) {
  if (shm == 0) return 0;
  if (shm->stamp != 0) {
    uint64_t seen = __atomic_load_n(&shm->seen, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(shm->stamp, __ATOMIC_SEQ_CST) < seen) __atomic_store_n(&shm->lost, 1, __ATOMIC_SEQ_CST);
  }
  return __atomic_load_n(&shm->lost, __ATOMIC_SEQ_CST);
}

void kioku_shm_stamp(Shm *shm) {
  if (shm == 0 || shm->stamp == 0 || kioku_shm_lost(shm)) return;
  __atomic_store_n(&shm->seen, __atomic_add_fetch(shm->stamp, 1, __ATOMIC_SEQ_CST), __ATOMIC_SEQ_CST);
}

void kioku_shm_release(Shm *shm) {
  if (shm == 0) return;
  pthread_mutex_lock(&mutex);
  if (--shm->users == 0) {
    for (Region *r = regions; r != 0; r = r->next) {
      if (r->start != 0 && r->shm == shm) __atomic_store_n(&r->start, 0, __ATOMIC_RELEASE);
    }
    free(shm);
  }
  pthread_mutex_unlock(&mutex);
}
