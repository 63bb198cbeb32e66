/* SPDX-License-Identifier: Apache-2.0
   How much memory a command may take (--max-memory, an option of every command) and how much stack it needs. What a
   file claims to hold is then refused by the system where there is not that much, before anything of it is touched. */
#ifndef HU_BASE_LIMIT_H
#define HU_BASE_LIMIT_H

#include "lib/base/status.h"

/* Parses a size such as "16GiB", "512 MB" or "8e9" into bytes, more than 0. HU_EINVAL, which names the option, where
   text is no size. */
hu_status hu_limit_parse(const char *option, const char *text, double *bytes);
/* Lets this process and what it starts ask for at most so many bytes of memory, where the system can hold it to that
   (RLIMIT_DATA). text is the value of --max-memory, NULL for half of what the process may have (hu_memory_limit). What
   lies in mapped files is not counted. */
hu_status hu_limit_memory(const char *text);
/* HU_EUNABLE where the stack, or those of threads (OMP_STACKSIZE), may not become as large as functions need. */
hu_status hu_limit_stack(void);
#endif
