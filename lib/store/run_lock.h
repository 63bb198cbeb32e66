/* SPDX-License-Identifier: Apache-2.0
   One writer of a run directory at a time, or any number of readers. The lock is the kernel's (flock) on
   a file in the directory, so it ends with the process that holds it, whatever ends that process. */
#ifndef HU_STORE_RUN_LOCK_H
#define HU_STORE_RUN_LOCK_H

#include "lib/base/status.h"

#define HU_RUN_LOCK "halfulp.lock"

typedef struct hu_run_lock { int held, writes, made, fd; char *dir, *path; } hu_run_lock;   /* all 0: none is held */

/* Makes DIR where it is not there, and holds it alone. HU_EIO where another process trains it or reads it, in words
   that say which. A file system that has no locks is written without one. */
hu_status hu_run_lock_write(hu_run_lock *l, const char *dir);
/* Holds DIR together with other readers; HU_EIO where it is being trained. Where there is no lock file nobody trains
   it, and none is made. */
hu_status hu_run_lock_read(hu_run_lock *l, const char *dir);
/* A writer's file goes too, and the folder if the lock made it and nothing is in it. Harmless where none is held. */
void hu_run_unlock(hu_run_lock *l);
#endif
