/* SPDX-License-Identifier: Apache-2.0
   Courses of quantities over commits, from tables whose commits list their quantities in one order, in another, or
   leave some out: each quantity has one course, with the values of its own rows. */
#include "lib/base/mem.h"
#include "lib/base/status.h"
#include "lib/store/history/course.h"
#include "t/tool/tap.h"

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

int
main(void)
{
	check("abc abc abc", 3);
	check("abc cba bca", 3);   /* another order each time */
	check("abcd bd acd d", 4); /* some are left out */
	check("b abc a", 3);       /* some are new, and stand first */
	check("aab ba", 2);        /* twice in one commit */
	return done_testing();
}
