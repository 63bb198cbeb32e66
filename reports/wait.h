/* SPDX-License-Identifier: Apache-2.0
   Programs that a report starts: each is given a time after which it is killed. */
#ifndef HU_REPORTS_WAIT_H
#define HU_REPORTS_WAIT_H

#include <sys/types.h>

enum { HU_WAIT_HANGS = -1000 };

/* Waits for the process PID. Returns its exit code, or the negative number of the signal that ended it; HU_WAIT_HANGS
   where it has not ended after SECONDS, and has been killed. */
int hu_wait_for(pid_t pid, int seconds);
#endif
