/* SPDX-License-Identifier: Apache-2.0
   Draws progress bars, at most ten times a second. */
#include "lib/base/terminal/progress.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int disabled;

/* Some virtual machines let even this clock go back: time stands still then until it is where it was, as it does where
   there is no such clock. */
double
hu_now(void)
{
	static _Atomic int64_t latest;
	struct timespec t;
	int64_t ns, before = latest;

	ns = clock_gettime(CLOCK_MONOTONIC, &t) ? before : (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
	while (ns > before && !atomic_compare_exchange_weak(&latest, &before, ns))
		;
	return 1e-9 * (double)(ns > before ? ns : before);
}

void
hu_progress_disable(void)
{
	disabled = 1;
}

void
hu_progress_start(hu_progress *p, const char *what, size_t total)
{
	memset(p, 0, sizeof *p);
	p->what = what;
	p->total = total ? total : 1;
	p->start = hu_now();
	p->on = !disabled && isatty(2);
}

static void
draw(hu_progress *p, size_t done)
{
	enum { WIDTH = 28 };
	char bar[WIDTH + 1];
	double spent = hu_now() - p->start, left = done ? spent * (double)(p->total - done) / (double)done : 0;
	size_t full = done * WIDTH / p->total;

	for (size_t i = 0; i < WIDTH; i++)
		bar[i] = i < full ? '#' : '.';
	bar[WIDTH] = 0;
	fprintf(stderr, "\r%-10s [%s] %3zu%%  %zu/%zu  %.0f s left  %s\033[K", p->what, bar, done * 100 / p->total,
		done, p->total, left, p->note);
	fflush(stderr);
}

void
hu_progress_step(hu_progress *p, size_t n)
{
	size_t done = atomic_fetch_add(&p->done, n) + n;

	if (!p->on)
		return;
#pragma omp critical(hu_progress)
	if (hu_now() - p->shown > 0.1) {
		draw(p, done > p->total ? p->total : done);
		p->shown = hu_now();
	}
}

void
hu_progress_note(hu_progress *p, const char *fmt, ...)
{
	va_list ap;

	if (!p->on)
		return;
	va_start(ap, fmt);
	vsnprintf(p->note, sizeof p->note, fmt, ap);
	va_end(ap);
}

void
hu_progress_end(hu_progress *p)
{
	if (p->on)
		fprintf(stderr, "\r\033[K");
}
