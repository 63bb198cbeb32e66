/* SPDX-License-Identifier: Apache-2.0
   Entering the library and leaving it, whatever happens inside. */
#define _GNU_SOURCE
#include "lib/api/enter.h"

#include "lib/base/bug.h"
#include "lib/base/caught.h"
#include "lib/base/failed.h"
#include "lib/base/mem.h"
#include "lib/exact/dot.h"
#include "lib/exact/judge.h"
#include "lib/number/simd.h"

#include <errno.h>
#include <fenv.h>
#include <gmp.h>
#include <mpfr.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

/* What the shared library has in place of OpenMP's runtime (dynamic/serial.c) lets go of the locks that this thread
   holds. */
extern void hu_serial_release(void) __attribute__((weak));

static _Thread_local jmp_buf back;
static _Thread_local int code;
static _Thread_local char line[1024];

static void
caught(int c, const char *text)
{
	hu_bug_caught_by(NULL);
	code = c;
	snprintf(line, sizeof line, "%s", text);
	longjmp(back, 1);
}

static void *
resized(void *p, size_t from, size_t to)
{
	(void)from;
	return hu_xrealloc(p, to);
}

static void
freed(void *p, size_t n)
{
	(void)n;
	free(p);
}

static pthread_key_t ends;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static hu_status begun;

/* MPFR keeps constants for each thread. */
static void
thread_ended(void *unused)
{
	(void)unused;
	mpfr_free_cache2(MPFR_FREE_LOCAL_CACHE);
}

/* GMP aborts where there is no memory, unless it has other allocators. Those of a caller stay: what it allocated by
   them it frees by them. Its own allocate with malloc, as ours do. */
extern void *__gmp_default_allocate(size_t);

static void
begin(void)
{
	void *(*old)(size_t);

	mp_get_memory_functions(&old, NULL, NULL);
	if (old == __gmp_default_allocate)
		mp_set_memory_functions(hu_xmalloc, resized, freed);
	begun = pthread_key_create(&ends, thread_ended)
			? hu_fail(HU_EUNABLE, "the process has no thread-specific key left (pthread_key_create)")
			: HU_OK;
	hu_simd_level();
	hu_exact_way_set(HU_EXACT_AUTO);
}

typedef struct settings {
	mpfr_exp_t least, most;
	mpfr_prec_t precision;
	mpfr_rnd_t rounding;
	mpfr_flags_t flags;
	fenv_t environment;
} settings;

static void
settings_take(settings *s)
{
	fegetenv(&s->environment);
	fesetenv(FE_DFL_ENV);
	s->least = mpfr_get_emin();
	s->most = mpfr_get_emax();
	s->precision = mpfr_get_default_prec();
	s->rounding = mpfr_get_default_rounding_mode();
	s->flags = mpfr_flags_save();
	mpfr_set_emin(MPFR_EMIN_DEFAULT);
	mpfr_set_emax(MPFR_EMAX_DEFAULT);
	mpfr_set_default_prec(53);
	mpfr_set_default_rounding_mode(MPFR_RNDN);
}

static void
settings_return(const settings *s)
{
	mpfr_set_emin(s->least);
	mpfr_set_emax(s->most);
	mpfr_set_default_prec(s->precision);
	mpfr_set_default_rounding_mode(s->rounding);
	mpfr_flags_restore(s->flags, MPFR_FLAGS_ALL);
	fesetenv(&s->environment);
}

static hu_status
guarded(hu_status (*act)(void *of), void *of)
{
	hu_status st;

	if (setjmp(back)) {
		mpfr_free_cache2(MPFR_FREE_LOCAL_CACHE); /* a constant may be half computed */
		if (hu_serial_release)
			hu_serial_release();
		return code == HU_EXIT_BUG ? hu_fail(HU_EINVAL, "%s", line)
					   : hu_fail(HU_ENOMEM, "there is no memory for what was asked");
	}
	hu_bug_caught_by(caught);
	st = act(of);
	hu_bug_caught_by(NULL);
	return st;
}

static halfulp_status
outside(hu_status st)
{
	switch (st) {
	case HU_OK: return HALFULP_OK;
	case HU_EINVAL:
	case HU_EABSENT: return HALFULP_EINVAL;
	case HU_ENOMEM: return HALFULP_ENOMEM;
	case HU_EUNABLE:
	case HU_EIO:
	case HU_EFILE:
	case HU_EDEVICE: break;
	}
	return HALFULP_EUNABLE;
}

halfulp_status
hu_api_enter(hu_status (*act)(void *of), void *of)
{
	int error = errno;
	unsigned long long disagreed;
	settings caller;
	hu_status st;

	pthread_once(&once, begin);
	if (begun != HU_OK)
		return outside(hu_fail(begun, "the process has no thread-specific key left (pthread_key_create)"));
	pthread_setspecific(ends, &ends);
	settings_take(&caller);
	disagreed = hu_exact_disagreements();
	code = 0;
	errno = 0;
	st = guarded(act, of);
	hu_failed_forget();
	settings_return(&caller);
	errno = error;
	if (code == HU_EXIT_BUG)
		return HALFULP_EBUG;
	if (st != HU_ENOMEM && hu_exact_disagreements() != disagreed) {
		hu_fail(HU_EUNABLE, "two ways of computing an exact value disagree, so that there is no result");
		return HALFULP_EBUG;
	}
	return outside(st);
}

hu_status
hu_api_needs(const void *p, const char *function, const char *argument)
{
	return p ? HU_OK : hu_fail(HU_EINVAL, "%s: the argument %s is NULL", function, argument);
}

const char *
halfulp_reason(void)
{
	return hu_reason();
}
const char *
halfulp_version(void)
{
	return HU_VERSION;
}
