/* SPDX-License-Identifier: Apache-2.0
   The reason of the last failure, and exit codes. */
#include "lib/base/status.h"

#include "lib/base/show.h"
#include "lib/base/failed.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static _Thread_local char reason[1024];

/* A library that reads a file may say of it that it is none, where in truth there was no descriptor. That is what errno
   is for: it keeps these values only where a call of the system failed so. ENOMEM is not among them, since an
   allocation that succeeds leaves it where the heap cannot grow and memory was found elsewhere: of memory callers ask
   the library itself. */
static int
system_failed(int error)
{
	static const int of_system[] = { EMFILE, ENFILE, EIO, EINTR, ESTALE, ENOSPC, EDQUOT,
		/* a disk of the network that is away, one whose server ended, and one that finds itself damaged */
		ETIMEDOUT, ENOTCONN, EHOSTUNREACH, EBADMSG,
#ifdef EUCLEAN
		EUCLEAN,
#endif
#ifdef EREMOTEIO
		EREMOTEIO,
#endif
	};

	for (size_t i = 0; i < sizeof of_system / sizeof *of_system; i++)
		if (error == of_system[i])
			return 1;
	return 0;
}

hu_status
hu_fail(hu_status st, const char *fmt, ...)
{
	int error = errno;
	char text[sizeof reason];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	if (st == HU_EFILE && system_failed(error)) {
		size_t n = strlen(text);
		if (!strstr(text, strerror(error)))
			snprintf(text + n, sizeof text - n, ": %s", strerror(error));
		st = HU_EIO;
	}
	snprintf(reason, sizeof reason, "%s", hu_shown(text)); /* the text may hold names from files */
	if (st == HU_ENOMEM || st == HU_EIO)
		hu_failed_note(HU_EXIT_ENV, reason);
	errno = error;
	return st;
}

const char *
hu_reason(void)
{
	return reason;
}

int
hu_exit_code(hu_status st)
{
	switch (st) {
	case HU_OK: return HU_EXIT_OK;
	case HU_EINVAL:
	case HU_EABSENT: return HU_EXIT_USAGE;
	case HU_EFILE: return HU_EXIT_FILE;
	case HU_EUNABLE:
	case HU_EIO:
	case HU_ENOMEM:
	case HU_EDEVICE: return HU_EXIT_ENV;
	}
	return HU_EXIT_ENV;
}
