/* SPDX-License-Identifier: Apache-2.0
   Courses of quantities over commits, from tables whose commits list their quantities in one order, in another, or
   leave some out: each quantity has one course, with the values of its own rows. */
#include "lib/base/mem.h"
#include "lib/base/status.h"
#include "lib/store/history/course.h"
#include "t/tool/tap.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define HEAD "commit\tdate\tquantity\tvalue\n"

/* One row a letter of ORDER, which names a quantity; a blank begins the next commit. Row i has the value i. */
static void
check(const char *order, size_t quantities)
{
	char text[2048] = HEAD;
	double want[26][32], commit = 0;
	size_t n[26] = { 0 }, row = 0;
	hu_table t;
	hu_courses c;
	int wrong = 0;

	for (const char *s = order; *s; s++) {
		if (*s == ' ') {
			commit++;
			continue;
		}
		int q = *s - 'a';
		snprintf(
			text + strlen(text), sizeof text - strlen(text), "c%g\t2026-01-01\t%c\t%zu\n", commit, *s, row);
		want[q][n[q]++] = (double)row++;
	}
	char *data = hu_xstrdup(text);
	if (hu_table_parse(&t, "history.tsv", data, strlen(data)) != HU_OK)
		bail_out("%s", hu_reason());
	hu_courses_of(&c, &t, NULL);
	is_int((long long)c.n, (long long)quantities, "'%s': so many courses", order);
	is_int((long long)c.commits, (long long)commit + 1, "'%s': so many commits", order);
	for (size_t k = 0; k < c.n; k++) {
		int q = c.q[k].key[0] - 'a';
		wrong += c.q[k].n != n[q];
		for (size_t i = 0; i < n[q] && i < c.q[k].n; i++)
			wrong += !(c.q[k].value[i] == want[q][i]);
	}
	is_int(wrong, 0, "'%s': each has the values of its own rows", order);
	hu_courses_release(&c);
	hu_table_release(&t);
}

/* The mean squared distance from the mean of x[from], ..., times their number, and the mean: with long doubles, and
   without the first value that the library subtracts. */
static long double
squares(const double *x, size_t from, size_t to, long double *mean)
{
	long double sum = 0, s = 0;

	for (size_t i = from; i < to; i++)
		sum += x[i];
	*mean = sum / (long double)(to - from);
	for (size_t i = from; i < to; i++)
		s += (x[i] - *mean) * (x[i] - *mean);
	return s;
}

/* One quantity with these values, of which the last may be no number: it stands where the two halves' squares are
   least, unless F(1, n - 2) of what that explains is at most 30. */
static void
check_split(const char *told, const double *x, size_t n, size_t finite)
{
	char text[2048] = "commit\tdate\tquantity\tvalue\tlow\thigh\n";
	long double least = INFINITY, before = 0, after = 0, a, b, all = squares(x, 0, finite, &a);
	size_t split = 0;
	hu_table t;
	hu_courses c;

	for (size_t i = 0; i < n; i++)
		snprintf(text + strlen(text), sizeof text - strlen(text), "c%zu\t2026-01-01\tq\t%.17g\t-%zu\t%zu\n",
			i, x[i], i + 1, i + 1);
	for (size_t k = 1; k < finite; k++) {
		long double s = squares(x, 0, k, &a) + squares(x, k, finite, &b);
		if (s < least) {
			least = s;
			split = k;
			before = a;
			after = b;
		}
	}
	if (all == 0 || (least > 0 && !((all - least) * (finite - 2) / least > 30)))
		split = 0;
	char *data = hu_xstrdup(text);
	if (hu_table_parse(&t, "history.tsv", data, strlen(data)) != HU_OK)
		bail_out("%s", hu_reason());
	hu_courses_of(&c, &t, NULL);
	is_int((long long)c.q[0].n, (long long)finite, "%s: values that are finite", told);
	is_int((long long)c.commits, (long long)n, "%s: the commits of all", told);
	is_int((long long)c.q[0].split, (long long)split, "%s: where it moved", told);
	if (split) {
		is_near(c.q[0].before, (double)before, 1e-12 * fabs((double)before), "%s: its mean before", told);
		is_near(c.q[0].after, (double)after, 1e-12 * fabs((double)after), "%s: and after", told);
	}
	ok(c.q[0].low[finite - 1] == -(double)finite && c.q[0].high[finite - 1] == (double)finite,
		"%s: the limits are those of the row", told);
	hu_courses_release(&c);
	hu_table_release(&t);
}

int
main(void)
{
	/* of {0, 1, 2, x} the cut before x leaves 2 of 2 + 3/4 (x - 1)^2, so F = 3/4 (x - 1)^2, which is 30 at
	   1 + sqrt(40), about 7.32 */
	check_split("equal values", (double[]){ 0.1, 0.1, 0.1, 0.1 }, 4, 4);
	check_split("a step", (double[]){ 0.1, 0.1, 0.7, 0.7, 0.7 }, 5, 5);
	check_split("a step of a noisy quantity", (double[]){ 1, 2, 1, 2, 30, 31, 30 }, 7, 7);
	check_split("noise", (double[]){ 1, 2, 1, 2, 1, 2, 1 }, 7, 7);
	check_split("just enough", (double[]){ 0, 1, 2, 7.4 }, 4, 4);
	check_split("just too little", (double[]){ 0, 1, 2, 7.3 }, 4, 4);
	check_split("two cuts that leave the same", (double[]){ 0, 0, 0, 0, 50, 100, 100, 100, 100 }, 9, 9);
	check_split("no number at the end", (double[]){ 3, 3, 4, INFINITY }, 4, 3);
	check("abc abc abc", 3);
	check("abc cba bca", 3);   /* another order each time */
	check("abcd bd acd d", 4); /* some are left out */
	check("b abc a", 3);       /* some are new, and stand first */
	check("aab ba", 2);        /* twice in one commit */
	return done_testing();
}
