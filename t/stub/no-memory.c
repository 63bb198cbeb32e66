/* SPDX-License-Identifier: Apache-2.0
   Calls libhalfulp again and again, each time with the next allocation failing, until a round needs no more of them. In
   each round the process lives on, a failure is HALFULP_ENOMEM, and the same calls with memory give the right values
   afterwards. Prints how many rounds there were. t/package/t-shared.py compiles it against the installed library. */
#define _GNU_SOURCE
#include <halfulp/halfulp.h>

#include <errno.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);

static long left = -1; /* how many allocations succeed before one fails; below 0: all do */

static int
fails(void)
{
	if (left < 0 || left--)
		return 0;
	errno = ENOMEM;
	return 1;
}

void *malloc(size_t n) { return fails() ? NULL : __libc_malloc(n); }
void *calloc(size_t k, size_t n) { return fails() ? NULL : __libc_calloc(k, n); }
void *realloc(void *p, size_t n) { return n && fails() ? NULL : __libc_realloc(p, n); }

int
posix_memalign(void **p, size_t at, size_t n)
{
	*p = fails() ? NULL : __libc_memalign(at, n);
	return *p ? 0 : ENOMEM;
}

enum { N = 40, VALUES = 8 };

/* Every kind of call. The handles of a round that failed are freed all the same. */
static halfulp_status
all(double *v, int round)
{
	const halfulp_format *f, *fp64;
	halfulp_exact *e = NULL;
	halfulp_sum *s = NULL;
	halfulp_call *c = NULL;
	halfulp_judgement *j = NULL;
	double a[N], y[N];
	size_t shape[] = { 2, N / 2 };
	char name[32];

	snprintf(name, sizeof name, "e5m%db%d", 3 + round % 20, 15 + round / 20 % 8); /* a name that is new */
	for (int i = 0; i < N; i++)
		a[i] = (i - 20) * 0.0625;
	a[3] = 0x1p-900, a[4] = 0x1p900; /* the engine does not hold their sum, and MPFR computes it */
	halfulp_status st = halfulp_format_find(&f, name);
	if (!st) st = halfulp_format_find(&f, "bf16");
	if (!st) st = halfulp_format_find(&fp64, "fp64");
	if (!st) st = halfulp_exact_dot(&e, a, a, N);
	if (!st) st = halfulp_exact_round(&v[0], e, fp64, HALFULP_RU, 0);
	if (!st) st = halfulp_exact_error(&v[1], e, v[0]);
	if (!st) st = halfulp_exact_text(name, sizeof name, NULL, e);
	a[3] = a[4] = 0.5;
	if (!st) st = halfulp_sum_parse(&s, "kahan,acc=bf16", f, f, f);
	if (!st) st = halfulp_sum_dot(&v[2], s, a, a, N, 0);
	if (!st) st = halfulp_sum_bound(&v[3], s, a, a, N);
	if (!st) st = halfulp_call_new(&c, "softmax");
	if (!st) st = halfulp_call_set(c, "mode", "RZ");
	if (!st) st = halfulp_call_operand(c, 0, a, shape, 2, f);
	if (!st) st = halfulp_call_run(c, 0, y, N);
	if (!st) st = halfulp_call_judge(&j, c, 0, y, N);
	if (!st) {
		v[4] = y[N - 1];
		v[5] = halfulp_judgement_ulps(j)[0];
		v[6] = halfulp_judgement_bound(j)[N - 1];
		v[7] = (double)halfulp_judgement_beyond(j);
	}
	halfulp_judgement_free(j);
	halfulp_call_free(c);
	halfulp_sum_free(s);
	halfulp_exact_free(e);
	return st;
}

int
main(void)
{
	double want[VALUES], got[VALUES];
	int rounds = 0, failed = 0, more = 1;

	for (; more && rounds < 5000; rounds++) {
		left = rounds;
		halfulp_status st = all(got, rounds);
		more = left < 0; /* an allocation failed */
		left = -1;
		failed += st != HALFULP_OK;
		if (st != HALFULP_OK && st != HALFULP_ENOMEM) {
			printf("round %d: status %d: %s\n", rounds, st, halfulp_reason());
			return 1;
		}
		st = all(got, rounds);
		if (!rounds)
			memcpy(want, got, sizeof want);
		if (st != HALFULP_OK || memcmp(want, got, sizeof want)) {
			printf("after round %d: status %d, other values\n", rounds, st);
			return 1;
		}
	}
	printf("%d rounds, %d failures\n", rounds, failed);
	return more || failed < 20;
}
