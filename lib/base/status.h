/* SPDX-License-Identifier: Apache-2.0
   The status that every function that can fail returns, and the one line that says why it failed. Library code
   returns a status; only commands print the line and exit. */
#ifndef HU_BASE_STATUS_H
#define HU_BASE_STATUS_H

#include "lib/base/bug.h"

typedef enum hu_status {
	HU_OK = 0,
	HU_EINVAL,   /* an argument, option, name or expression is wrong   exit 2 */
	HU_EABSENT,  /* the answer does not exist (an empty set, no match) exit 2 */
	HU_EUNABLE,  /* the answer exists, this build cannot compute it    exit 4 */
	HU_EIO,      /* the operating system failed: disk full, permission exit 4 */
	HU_EFILE,    /* an input file is bad, missing or incompatible      exit 3 */
	HU_ENOMEM,   /* no memory                                          exit 4 */
	HU_EDEVICE   /* no device, or it was lost                          exit 4 */
} hu_status;

/* Records the one-line reason of a failure (what, where, what to do) for this thread and returns st, so that a caller
   can write `return hu_fail(...)`. Control characters in the text are printed as escapes. The last call wins. */
hu_status hu_fail(hu_status st, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* The reason that was recorded last on this thread, "" before the first failure. It stays valid until the next
   failure. */
const char *hu_reason(void);

/* The exit code (bug.h) that a command returns for st, as in the table above. */
int hu_exit_code(hu_status st);

/* Returns from the calling function where the expression e fails, with e's status. */
#define HU_TRY(e) do { hu_status hu_try_ = (e); if (hu_try_ != HU_OK) return hu_try_; } while (0)
#endif
