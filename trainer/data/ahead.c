/* SPDX-License-Identifier: Apache-2.0 */
#include "trainer/data/ahead.h"

#include "lib/base/mem.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* Everything below `lock` is read and written under it; the thread holds it except while it makes a row. */
struct hu_ahead {
	hu_maker maker;
	pthread_t thread;
	int started;
	pthread_mutex_t lock;
	pthread_cond_t asked, rested;
	const size_t *index;
	unsigned char *const *to;
	unsigned char *done; /* of each of the n rows */
	size_t n, next;      /* next is the first row that is not begun */
	int making, ends;
};

hu_ahead *
hu_ahead_new(hu_maker maker)
{
	hu_ahead *a = hu_xcalloc(1, sizeof *a);

	a->maker = maker;
	pthread_mutex_init(&a->lock, NULL);
	pthread_cond_init(&a->asked, NULL);
	pthread_cond_init(&a->rested, NULL);
	return a;
}

/* Makes the next row with the lock given up meanwhile. */
static void
make_next(hu_ahead *a)
{
	size_t i = a->next++;

	if (!a->to[i])
		return;
	a->making = 1;
	pthread_mutex_unlock(&a->lock);
	int made = a->maker.make(a->maker.own, a->index[i], a->to[i]) == HU_OK;
	pthread_mutex_lock(&a->lock);
	a->done[i] = (unsigned char)made;
	a->making = 0;
	pthread_cond_signal(&a->rested);
}

static void *
work(void *of)
{
	hu_ahead *a = of;

	pthread_mutex_lock(&a->lock);
	while (!a->ends) {
		if (a->next < a->n)
			make_next(a);
		else
			pthread_cond_wait(&a->asked, &a->lock);
	}
	pthread_mutex_unlock(&a->lock);
	return NULL;
}

void
hu_ahead_ask(hu_ahead *a, const size_t *index, unsigned char *const *to, size_t n)
{
	if (!a->started && pthread_create(&a->thread, NULL, work, a))
		return;
	a->started = 1;
	pthread_mutex_lock(&a->lock);
	free(a->done);
	a->done = hu_xcalloc(n + 1, 1);
	a->index = index;
	a->to = to;
	a->n = n;
	a->next = 0;
	pthread_cond_signal(&a->asked);
	pthread_mutex_unlock(&a->lock);
}

void
hu_ahead_stop(hu_ahead *a, unsigned char *done)
{
	pthread_mutex_lock(&a->lock);
	a->next = a->n; /* nothing more is begun */
	while (a->making)
		pthread_cond_wait(&a->rested, &a->lock);
	if (a->n)
		memcpy(done, a->done, a->n);
	a->n = a->next = 0;
	pthread_mutex_unlock(&a->lock);
}

void
hu_ahead_free(hu_ahead *a)
{
	if (!a)
		return;
	pthread_mutex_lock(&a->lock);
	a->ends = 1;
	pthread_cond_signal(&a->asked);
	pthread_mutex_unlock(&a->lock);
	if (a->started)
		pthread_join(a->thread, NULL);
	pthread_cond_destroy(&a->rested);
	pthread_cond_destroy(&a->asked);
	pthread_mutex_destroy(&a->lock);
	free(a->done);
	free(a);
}
