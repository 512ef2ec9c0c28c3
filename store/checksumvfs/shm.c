#include "shm.h"

#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

struct Shm {
  int users; /* connections; guarded by mutex */
  int lost;  /* atomic */
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

int kioku_shm_add(Shm **shm, volatile void *start, int size) {
  Region *r;
  int ok = 0;
  pthread_mutex_lock(&mutex);
  r = find_region((uintptr_t)start);
  if (*shm == 0) { /* the first region is the same for all connections */
    *shm = r != 0 ? r->shm : calloc(1, sizeof **shm);
    if (*shm == 0) goto done;
    (*shm)->users++;
  }
  ok = r != 0 || (r = new_region()) != 0;
  if (ok && r->start == 0) {
    r->size = size;
    r->shm = *shm;
    __atomic_store_n(&r->start, (uintptr_t)start, __ATOMIC_RELEASE);
  }
done:
  pthread_mutex_unlock(&mutex);
  return ok;
}

int kioku_shm_lost(Shm *shm) { return shm != 0 && __atomic_load_n(&shm->lost, __ATOMIC_SEQ_CST); }

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
