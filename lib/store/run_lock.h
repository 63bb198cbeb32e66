/* SPDX-License-Identifier: Apache-2.0
   A lock on a run directory: one writer at a time, or any number of readers. It is the kernel's (flock) on a file in
   the directory, so it ends with the process that holds it, however that process ends. */
#ifndef HU_STORE_RUN_LOCK_H
#define HU_STORE_RUN_LOCK_H

#include "lib/base/status.h"

#define HU_RUN_LOCK "halfulp.lock"

typedef struct hu_run_lock { int held, writes, made, fd; char *dir, *path; } hu_run_lock;   /* all 0: none is held */

/* Makes dir if it does not exist, and locks it for one writer. HU_EIO says whether another process trains it or reads
   it. On a file system without locks the run is written unlocked. */
hu_status hu_run_lock_write(hu_run_lock *l, const char *dir);
/* Locks dir for reading, together with other readers; HU_EIO if it is being trained. If there is no lock file nobody
   trains it, and none is created. */
hu_status hu_run_lock_read(hu_run_lock *l, const char *dir);
/* Ends the lock. A writer's lock file is removed, and so is the folder if the lock made it and it is empty. Does
   nothing if no lock is held. */
void hu_run_unlock(hu_run_lock *l);
#endif
