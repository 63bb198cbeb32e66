/* SPDX-License-Identifier: Apache-2.0
   The reason of the last failure, and exit codes. */
#include "lib/base/status.h"

#include "lib/base/console/show.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static _Thread_local char reason[1024];

hu_status
hu_fail(hu_status st, const char *fmt, ...)
{
	char text[sizeof reason];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	snprintf(reason, sizeof reason, "%s", hu_shown(text)); /* the text may hold names from files */
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
	case HU_EINVAL: case HU_EABSENT: return HU_EXIT_USAGE;
	case HU_EFILE: return HU_EXIT_FILE;
	case HU_EUNABLE: case HU_EIO: case HU_ENOMEM: case HU_EDEVICE: return HU_EXIT_ENV;
	}
	return HU_EXIT_ENV;
}
