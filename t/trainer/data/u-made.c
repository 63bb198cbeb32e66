/* SPDX-License-Identifier: Apache-2.0
   Rows that are made later: a thread makes the batch that was asked for while the caller does something else, every row
   has the same bytes whoever made it, none that is kept is made twice, and a row that cannot be made says why when its
   batch is got. */
#include "lib/base/mem.h"
#include "t/tool/tap.h"
#include "trainer/data/made.h"

#include <pthread.h>
#include <string.h>
#include <unistd.h>

enum { ROWS = 64, MANY = 1 << 13, LARGE = 1 << 26, BYTES = 16, BATCH = 4, PAUSE = 20000 /* microseconds a row */ };

typedef struct source {
	int made[MANY], bad, slow, released;
	pthread_t by[ROWS]; /* the thread that made the row last, of the first rows */
	unsigned char *bad_to; /* where the damaged row was to be made last */
} source;

static hu_status
make(const void *own, size_t row, unsigned char *to)
{
	source *s = (source *)own; /* the counters are the test's */

	if (s->slow)
		usleep(PAUSE);
	if (row < ROWS)
		s->by[row] = pthread_self();
	__atomic_add_fetch(&s->made[row], 1, __ATOMIC_RELAXED);
	if (s->bad == (int)row)
		s->bad_to = to;
	if (s->bad == (int)row)
		return hu_fail(HU_EFILE, "row %zu is damaged", row);
	for (size_t i = 0; i < BYTES; i++)
		to[i] = (unsigned char)(row * 7 + i);
	return HU_OK;
}

static void
release(void *own)
{
	((source *)own)->released++;
}

/* Gets n rows; *right is whether all bytes are what they should be. */
static void
get(hu_made *m, const size_t *index, size_t n, int *right)
{
	hu_made_rows r;

	*right = 0;
	if (hu_made_rows_get(&r, m, index, n) != HU_OK)
		return;
	*right = 1;
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < BYTES; k++)
			*right &= r.row[i][k] == (unsigned char)(index[i] * 7 + k);
	hu_made_rows_release(&r);
}

static int
most(const source *s)
{
	int n = 0;

	for (int i = 0; i < ROWS; i++)
		n = s->made[i] > n ? s->made[i] : n;
	return n;
}

static void
test_ahead(void)
{
	source s = { .bad = -1, .slow = 1 };
	hu_made *m = hu_made_new((hu_maker){ make, release, &s, 0 }, ROWS, BYTES);
	const size_t first[] = { 3, 9, 3, 40 }, second[] = { 9, 11, 12, 13 }, other[] = { 12, 60, 61 };
	int right, elsewhere = 0;

	get(m, first, BATCH, &right);
	ok(right, "a batch that nobody asked for");
	hu_made_ask(m, second, BATCH);
	for (int i = 0; i < 5000 && !__atomic_load_n(&s.made[13], __ATOMIC_RELAXED); i++)
		usleep(PAUSE / 4);
	get(m, second, BATCH, &right);
	for (int i = 1; i < BATCH; i++)
		elsewhere += !pthread_equal(s.by[second[i]], pthread_self());
	ok(right && elsewhere == BATCH - 1, "of one that was asked for no row is made by who gets it (%d of %d)",
		elsewhere, BATCH - 1);
	hu_made_ask(m, (const size_t[]){ 12, 20, 21, 60 }, BATCH);
	get(m, other, 3, &right);
	ok(right, "another batch in between");
	get(m, (const size_t[]){ 12, 20, 21, 60 }, BATCH, &right);
	ok(right, "and the one that was asked for after it");
	ok(most(&s) == 1, "no row was made twice");
	hu_made_ask(m, (const size_t[]){ 30, 31, 32, 33 }, BATCH);
	hu_made_free(m); /* in the midst of it */
	ok(s.released == 1, "its maker is released once, also while rows are being made");
}

/* 4000 gets and asks at random, half of them for the batch that was asked for. */
static void
test_random(void)
{
	source s = { .bad = -1 };
	hu_made *m = hu_made_new((hu_maker){ make, release, &s, 0 }, ROWS, BYTES);
	unsigned x = 12345;
	int wrong = 0, right;

	for (int i = 0; i < 4000; i++) {
		size_t index[BATCH];
		for (int k = 0; k < BATCH; k++)
			index[k] = (x = x * 1664525 + 1013904223) >> 26;
		if (x >> 30 & 1)
			hu_made_ask(m, index, BATCH);
		if (x >> 29 & 1)
			index[x >> 27 & 3] ^= 1;
		get(m, index, BATCH, &right);
		wrong += !right;
	}
	ok(!wrong && most(&s) == 1, "batches at random: %d wrong", wrong);
	hu_made_free(m);
}

static void
test_damaged(void)
{
	source s = { .bad = 5 };
	hu_made *m = hu_made_new((hu_maker){ make, release, &s, 0 }, ROWS, BYTES);
	const size_t index[] = { 4, 5, 6, 5 };
	hu_made_rows r;
	int right;

	for (int i = 0; i < 2; i++) {
		hu_made_ask(m, index, BATCH);
		while (!__atomic_load_n(&s.made[6], __ATOMIC_RELAXED))
			usleep(1000);
		hu_fail(HU_EINVAL, "another reason");
		ok(hu_made_rows_get(&r, m, index, BATCH) == HU_EFILE && !strcmp(hu_reason(), "row 5 is damaged"),
			"a damaged row gives its reason when it is got, each time");
	}
	get(m, (const size_t[]){ 6 }, 1, &right);
	ok(hu_made_rows_get(&r, m, (const size_t[]){ 6, 5 }, 2) == HU_EFILE && s.bad_to,
		"behind a row that is there it is made in its own place");
	s.bad = -1;
	get(m, index, BATCH, &right);
	ok(right, "and is made once it is whole");
	hu_made_free(m);
}

/* Rows for which there is no room are made each time, ahead or not. */
static void
test_unkept(void)
{
	source s = { .bad = -1 };
	hu_made *m = hu_made_new((hu_maker){ make, release, &s, 0 }, MANY, LARGE);
	size_t kept, index[2];
	int right, all = 1;

	size_t bytes = hu_made_bytes(m, &kept);
	ok(bytes == kept * LARGE, "%zu rows have %zu bytes", kept, bytes);
	size_t half = (size_t)sysconf(_SC_PHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE) / 2 / LARGE;
	while (half > kept) /* where the system does not give as much */
		half /= 2;
	ok(kept == (half < MANY ? half : MANY), "%zu rows of 64 MiB are kept, which half of the memory holds", kept);
	if (kept + 2 > MANY) {
		hu_made_free(m);
		skip(1, "%zu rows of 64 MiB have room on this machine", kept);
		return;
	}
	index[0] = kept;
	index[1] = kept + 1;
	for (int i = 0; i < 3; i++) {
		if (i)
			hu_made_ask(m, index, 2);
		get(m, index, 2, &right);
		all &= right;
	}
	ok(all && s.made[kept] == 3 && s.made[kept + 1] == 3, "rows without room are made once a batch");
	hu_made_free(m);
}

int
main(void)
{
	test_ahead();
	test_random();
	test_damaged();
	test_unkept();
	return done_testing();
}
