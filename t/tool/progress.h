/* SPDX-License-Identifier: Apache-2.0
   How far a test of minutes has come, on standard error: a line for each tenth. */
#ifndef HU_T_PROGRESS_H
#define HU_T_PROGRESS_H

#include <stdio.h>
#include <time.h>

typedef struct progress { const char *what; long parts, done; time_t start; } progress;

static inline progress
progress_of(const char *what, long parts)
{
	progress p = { what, parts, 0, time(NULL) };

	return p;
}

/* One part more. Any thread. */
static inline void
progress_step(progress *p)
{
	long done;

#pragma omp atomic capture
	done = ++p->done;
	if (done * 10 / p->parts != (done - 1) * 10 / p->parts)
		fprintf(stderr, "# %s: %ld %%, %.0f s\n", p->what, done * 100 / p->parts,
			difftime(time(NULL), p->start));
}
#endif
