/* SPDX-License-Identifier: Apache-2.0
   The data set "udata:FILE": ratings as MovieLens publishes them, a line each of user, item, rating and, where there is
   one, a time: u.data (tabs), ratings.dat (::) and ratings.csv (commas, with a line of names). As He and others (Neural
   collaborative filtering, WWW 2017) take them, a rating of any size is a choice, and the last choice of each user is
   held for evaluation; ranking.h has the rows that are made of it. Users and items are numbered in ascending order of
   their numbers in the file; of several ratings of one item by one user the last counts. */
#include "lib/base/file.h"
#include "lib/base/mem.h"
#include "trainer/data/ranking.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* A line. order is its time, or its place in the file where it has none. */
typedef struct choice {
	uint64_t user, item;
	double order;
	size_t line;
} choice;

typedef struct choices {
	choice *at;
	size_t n, room;
} choices;

enum { HIGHEST = 100 }; /* ratings beyond it are another column's numbers */

/* Reads one field and moves *s behind it and the separator; returns 0 where it is no number or nothing follows. */
static int
field(const char **s, double *x, int last)
{
	char *end;

	errno = 0;
	*x = strtod(*s, &end);
	if (end == *s || errno == ERANGE)
		return 0;
	while (*end == ' ')
		end++;
	if (!last && end[0] == ':' && end[1] == ':')
		end += 2;
	else if (!last && (*end == '\t' || *end == ',' || *end == ';'))
		end++;
	else if (*end && !last)
		return 0;
	*s = end;
	return 1;
}

static int
is_number(double x)
{
	return x >= 0 && x < 0x1p53 && x == floor(x);
}

static hu_status
take(choices *c, const char *path, const char *text, size_t line)
{
	double user, item, rating, time = 0;
	const char *s = text;

	if (!field(&s, &user, 0) || !field(&s, &item, 0) || !field(&s, &rating, 0))
		return hu_fail(HU_EFILE,
			"%s: line %zu: a user, an item and a rating are needed, separated by tabs, commas or ::", path,
			line);
	if (!is_number(user) || !is_number(item))
		return hu_fail(HU_EFILE, "%s: line %zu: user %g and item %g must be whole numbers from 0", path, line,
			user, item);
	if (!(rating >= 0 && rating <= HIGHEST))
		return hu_fail(
			HU_EFILE, "%s: line %zu: the rating %g is not from 0 to %d", path, line, rating, HIGHEST);
	int timed = *s != 0;
	if (timed && (!field(&s, &time, 1) || *s || !isfinite(time)))
		return hu_fail(HU_EFILE, "%s: line %zu: what follows the rating is no time", path, line);
	if (c->n == c->room)
		c->at = hu_xrealloc(c->at, (c->room = 2 * c->room + 1024) * sizeof *c->at);
	c->at[c->n++] = (choice){ (uint64_t)user, (uint64_t)item, timed ? time : (double)line, line };
	return HU_OK;
}

static hu_status
parse(choices *c, const char *path, char *text)
{
	size_t line = 0;

	for (char *s = text, *next; *s; s = next) {
		size_t n = strcspn(s, "\n");
		next = s + n + (s[n] == '\n');
		s[n] = 0;
		if (n && s[n - 1] == '\r')
			s[n - 1] = 0;
		line++;
		if (*s && !(line == 1 && !strncasecmp(s, "user", 4)))
			HU_TRY(take(c, path, s, line));
	}
	return HU_OK;
}

static int
by_user_and_order(const void *a, const void *b)
{
	const choice *x = a, *y = b;

	if (x->user != y->user)
		return x->user < y->user ? -1 : 1;
	if (x->order != y->order)
		return x->order < y->order ? -1 : 1;
	return (x->line > y->line) - (x->line < y->line);
}

static int
by_user_and_item(const void *a, const void *b)
{
	const choice *x = a, *y = b;

	if (x->user == y->user && x->item != y->item)
		return x->item < y->item ? -1 : 1;
	return by_user_and_order(a, b);
}

static int
by_number(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* Keeps the last of several choices of one item by one user. */
static void
once(choices *c)
{
	size_t n = 0;

	qsort(c->at, c->n, sizeof *c->at, by_user_and_item);
	for (size_t i = 0; i < c->n; i++)
		if (i + 1 == c->n || c->at[i].user != c->at[i + 1].user || c->at[i].item != c->at[i + 1].item)
			c->at[n++] = c->at[i];
	c->n = n;
}

/* Numbers the items; returns how many there are. */
static size_t
number_items(choices *c)
{
	uint64_t *item = hu_xmalloc((c->n + 1) * sizeof *item);
	size_t n = 0;

	for (size_t i = 0; i < c->n; i++)
		item[i] = c->at[i].item;
	qsort(item, c->n, sizeof *item, by_number);
	for (size_t i = 0; i < c->n; i++)
		if (!n || item[n - 1] != item[i])
			item[n++] = item[i];
	for (size_t i = 0; i < c->n; i++)
		c->at[i].item =
			(uint64_t)((uint64_t *)bsearch(&c->at[i].item, item, n, sizeof *item, by_number) - item);
	free(item);
	return n;
}

/* The items of all users, one user's after another's, and each user's held one. */
typedef struct kept_items { const uint32_t *chosen, *held; } kept_items;

static const uint32_t *
items_of(const hu_choices *c, size_t user, uint32_t *room, void *scratch, uint32_t *held)
{
	const kept_items *k = c->with;

	(void)room;
	(void)scratch;
	*held = k->held[user];
	return k->chosen + c->begin[user];
}

/* Rows of the choices, which are sorted by user and time. */
static hu_status
rank(hu_dataset *ds, const hu_dataset_options *o, const choices *c, const char *path, size_t items)
{
	size_t *begin = hu_xcalloc(c->n + 2, sizeof *begin), users = 0, kept = 0;
	uint32_t *chosen = hu_xmalloc((c->n + 1) * sizeof *chosen), *held = hu_xmalloc((c->n + 1) * sizeof *held);
	hu_status st = HU_OK;

	for (size_t i = 0, end; i < c->n && st == HU_OK; i = end) {
		for (end = i; end < c->n && c->at[end].user == c->at[i].user; end++)
			;
		if (end - i < 2)
			continue; /* nothing would be left to learn this user from */
		if (end - i == items)
			st = hu_fail(HU_EFILE,
				"%s: user %llu rated all of the %zu items, so no item is left that was not chosen",
				path, (unsigned long long)c->at[i].user, items);
		for (size_t k = i; k + 1 < end; k++)
			chosen[kept++] = (uint32_t)c->at[k].item;
		held[users++] = (uint32_t)c->at[end - 1].item;
		begin[users] = kept;
	}
	if (st == HU_OK && users < 2)
		st = hu_fail(
			HU_EFILE, "%s: %zu users have rated two items or more; two such users are needed", path, users);
	for (size_t u = 0; u < users && st == HU_OK; u++)
		qsort(chosen + begin[u], begin[u + 1] - begin[u], sizeof *chosen, hu_ranking_by_item);
	if (st == HU_OK)
		st = hu_ranking_rows(ds, o,
			&(hu_choices){ users, items, begin, items_of, 0, &(kept_items){ chosen, held } });
	free(begin);
	free(chosen);
	free(held);
	return st;
}

hu_status
hu_dataset_udata(hu_dataset *ds, const char *arg, const hu_dataset_options *o)
{
	choices c = { NULL, 0, 0 };
	char *text;
	size_t n;

	HU_TRY(hu_file_read(arg, &text, &n));
	hu_status st = strlen(text) == n
			       ? parse(&c, arg, text)
			       : hu_fail(HU_EFILE, "%s: byte %zu is 0, so this is no text", arg, strlen(text));
	free(text);
	if (st == HU_OK && c.n) {
		once(&c);
		size_t items = number_items(&c);
		qsort(c.at, c.n, sizeof *c.at, by_user_and_order);
		st = rank(ds, o, &c, arg, items);
	} else if (st == HU_OK)
		st = hu_fail(HU_EFILE, "%s: there is no rating in it", arg);
	free(c.at);
	return st;
}
