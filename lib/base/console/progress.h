/* SPDX-License-Identifier: Apache-2.0
   A progress bar with an estimate of the time left, on standard error and only
   where that is a terminal. Safe to step from several threads. */
#ifndef HU_BASE_PROGRESS_H
#define HU_BASE_PROGRESS_H

#include <stdatomic.h>
#include <stddef.h>

typedef struct hu_progress {
	const char *what;
	atomic_size_t done;
	size_t total;
	double start, shown;
	int on;
	char note[80];
} hu_progress;

void hu_progress_start(hu_progress *p, const char *what, size_t total);
void hu_progress_step(hu_progress *p, size_t n);
/* A few words after the bar (the loss, a file's name). */
void hu_progress_note(hu_progress *p, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void hu_progress_end(hu_progress *p);

/* Seconds on a clock that only moves forward. */
double hu_now(void);

/* Switches every bar off (--quiet, --json). */
void hu_progress_disable(void);
#endif
