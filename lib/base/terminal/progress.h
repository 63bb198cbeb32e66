/* SPDX-License-Identifier: Apache-2.0
   A progress bar with an estimate of the time left, shown on standard error and only where that is a terminal.
   hu_progress_step may be called from several threads. */
#ifndef HU_BASE_PROGRESS_H
#define HU_BASE_PROGRESS_H

#include <stdatomic.h>
#include <stddef.h>

/* `on`: the bar is shown; start, shown: when it began and was last drawn (hu_now). */
typedef struct hu_progress {
	const char *what;
	atomic_size_t done;
	size_t total;
	double start, shown;
	int on;
	char note[80];
} hu_progress;

/* Begins a bar of `total` steps. The string `what` must outlive it. */
void hu_progress_start(hu_progress *p, const char *what, size_t total);
void hu_progress_step(hu_progress *p, size_t n);
/* Puts a few words after the bar, such as the loss or a file's name. */
void hu_progress_note(hu_progress *p, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void hu_progress_end(hu_progress *p);

/* Returns the seconds of a clock that never runs backwards. */
double hu_now(void);

/* Switches off all bars that start from now on (--quiet, --json). */
void hu_progress_disable(void);
#endif
