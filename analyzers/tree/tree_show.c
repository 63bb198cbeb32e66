/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzers/tree/tree_show.h"

#include "lib/base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Returns the tree as text. The folded text is longer the less regular the tree is. */
static char *
text_of(const hu_order *o, int full)
{
	hu_str s;

	hu_str_init(&s);
	if (full)
		hu_reveal_nested(o, &s);
	else
		hu_reveal_text(o, &s);
	return s.s;
}

/* Says which of this program's summation models has the order, if one has. */
static char *
sentence(const hu_tree_found *f)
{
	if (!f->o)
		return hu_xprintf("%s: no tree explains %s.", f->backend, f->what);
	if (!f->ours)
		return hu_xprintf("%s sums %s in an order that no summation model here has.", f->backend, f->what);
	int n = (int)strcspn(f->names.s, ","), model = strncmp(f->names.s, "the ", 4) != 0;
	return hu_xprintf(
		"%s sums %s in the order of %s%.*s.", f->backend, f->what, model ? "--sum " : "", n, f->names.s);
}

static void
row_of(hu_trees *t, const hu_tree_found *f)
{
	json_t *row = json_object();
	char hash[24], *text = f->o ? text_of(f->o, t->full) : NULL;

	snprintf(hash, sizeof hash, "0x%016llx", (unsigned long long)f->hash);
	json_object_set_new(row, "backend", json_string(f->backend));
	json_object_set_new(row, "sum", json_string(f->what));
	json_object_set_new(row, "n", json_integer((json_int_t)t->n));
	json_object_set_new(row, "tree", text ? json_string(text) : json_null());
	json_object_set_new(row, "why", f->o ? json_null() : json_string(f->why));
	json_object_set_new(row, "hash", f->o ? json_string(hash) : json_null());
	json_object_set_new(row, "is", f->o ? json_string(f->names.s) : json_null());
	json_object_set_new(row, "ours", f->o ? json_boolean(f->ours) : json_null());
	json_object_set_new(row, "documented", f->o && f->documented ? json_boolean(!f->differs) : json_null());
	json_object_set_new(row, "sums", f->o ? json_integer((json_int_t)f->sums) : json_null());
	if (t->sentence) {
		char *s = sentence(f);
		json_object_set_new(row, "sentence", json_string(s));
		free(s);
	}
	json_array_append_new(t->rows, row);
	free(text);
}

static void
print(const hu_trees *t, const hu_tree_found *f)
{
	char *text = f->o ? text_of(f->o, t->full) : NULL, *want = f->differs ? text_of(f->documented, t->full) : NULL;

	printf("%s: %s\n", f->backend, f->what);
	if (f->o)
		printf("  %s\n  0x%016llx  %s%s%s\n", text, (unsigned long long)f->hash,
			f->ours ? f->names.s : "none of ours", !f->ours && f->names.len ? ": " : "",
			f->ours ? "" : f->names.s);
	else
		printf("  %s\n", f->why);
	if (want)
		printf("  DIFFERS from what is documented: %s\n", want);
	if (t->sentence) {
		char *s = sentence(f);
		printf("  %s\n", s);
		free(s);
	}
	free(text);
	free(want);
}

/* Sums that the first back end has with the same tree are counted instead of printed again. */
static int
again(hu_trees *t, const hu_tree_found *f)
{
	if (!t->backends) {
		HU_GROW(t->seen, t->nseen, t->cap);
		snprintf(t->seen[t->nseen].what, sizeof t->seen->what, "%s", f->what);
		t->seen[t->nseen++].hash = f->hash;
		return 0;
	}
	for (int i = 0; i < t->nseen; i++)
		if (!strcmp(t->seen[i].what, f->what) && t->seen[i].hash == f->hash && !f->differs) {
			t->alike++;
			return 1;
		}
	return 0;
}

void
hu_tree_show(hu_trees *t, hu_tree_found *f)
{
	hu_str_init(&f->names);
	if (f->o) {
		f->hash = hu_order_hash(f->o);
		f->differs = f->documented && f->hash != hu_order_hash(f->documented);
		hu_reveal_names(f->hash, t->n, &f->names, &f->ours);
	}
	t->wrong += f->differs;
	if (t->rows)
		row_of(t, f);
	else if (!again(t, f))
		print(t, f);
	hu_str_release(&f->names);
}
