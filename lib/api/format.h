/* SPDX-License-Identifier: Apache-2.0
   A format as the library hands it out (include/halfulp/format.h). */
#ifndef HU_API_FORMAT_H
#define HU_API_FORMAT_H

#include "lib/number/format.h"

#include "include/halfulp/format.h"

struct halfulp_format {
	hu_format f;
	const char *name;
	struct halfulp_format *next;
};

/* The format of an id: the same pointer each time, from any thread. */
const halfulp_format *hu_format_shared(hu_format_id id);
/* The first of n numbers that is no value of f; n where there is none. */
size_t hu_format_misfit(const double *x, size_t n, hu_format f);
/* The mode of the library's number, HU_EINVAL for another number. */
hu_status hu_format_mode(hu_mode *to, halfulp_mode mode, const char *function);
#endif
