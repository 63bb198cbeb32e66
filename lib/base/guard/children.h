/* SPDX-License-Identifier: Apache-2.0
   Processes that a command starts: each ends with the command, and a program that is not our own is given a time after
   which it is killed. */
#ifndef HU_BASE_GUARD_CHILDREN_H
#define HU_BASE_GUARD_CHILDREN_H

#include <sys/types.h>

enum { HU_WAIT_HANGS = -1000 };

/* In the child, at once after fork: it is killed as soon as the process PARENT, which forked it, ends. Where the system
   is not Linux it goes on. */
void hu_end_with(pid_t parent);
/* Waits for the process PID. Returns its exit code, or the negative number of the signal that ended it; HU_WAIT_HANGS
   where it has not ended after SECONDS, and has been killed. */
int hu_wait_for(pid_t pid, int seconds);
#endif
