/* SPDX-License-Identifier: Apache-2.0
   The first failure of the system: no memory, too many open files, a disk that fails. A function that looks whether a
   file is there, or tries one way before another, may pass over such a failure, and what follows would then be a wrong
   answer or blame a file. So the program remembers it to the end of the command, which fails with it. */
#ifndef HU_BASE_FAILED_H
#define HU_BASE_FAILED_H

/* Remembers a failure, of which the first counts, with its reason (hu_fail) and the exit code it has. On any thread. */
void hu_failed_note(int code, const char *reason);
/* Returns the exit code of the first failure of the system, 0 where there was none, and its reason in *reason. */
int hu_failed(const char **reason);
/* Forgets it: a row of the command's answer has said it. */
void hu_failed_forget(void);
#endif
