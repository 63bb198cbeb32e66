/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzers/tree/tree_dot.h"

#include "lib/base/build.h"
#include "lib/base/file.h"
#include "lib/base/mem.h"

#include <stdlib.h>
#include <string.h>

/* Appends text between quotes. */
static void
quoted(hu_str *b, const char *text)
{
	hu_str_add(b, "\"");
	for (const char *s = text; *s; s++)
		hu_str_addf(b, *s == '"' || *s == '\\' ? "\\%c" : "%c", *s);
	hu_str_add(b, "\"");
}

/* Appends the nodes and edges of the tree o, in order k, and returns its root's name's number: a term counts from 1, a
   sum has the next of *sums, with a minus. */
static long
nodes(hu_str *b, const hu_order *o, int k, long *sums)
{
	if (!o->n) {
		hu_str_addf(b, "\t\tt%d_%zu [label=\"%zu\", shape=plaintext];\n", k, o->leaf + 1, o->leaf + 1);
		return (long)o->leaf + 1;
	}
	long me = ++*sums;
	hu_str_addf(b, "\t\ts%d_%ld [label=\"+\", shape=circle];\n", k, me);
	for (int i = 0; i < o->n; i++) {
		long child = nodes(b, o->child[i], k, sums);
		hu_str_addf(b, "\t\t%c%d_%ld -> s%d_%ld;\n", child < 0 ? 's' : 't', k, labs(child), k, me);
	}
	return -me;
}

void
hu_tree_dot_add(hu_tree_dot *d, const hu_tree_found *f)
{
	int k = 0;
	long sums = 0;

	if (!d->text.s)
		hu_str_init(&d->text);
	if (!f->o) {
		hu_str_addf(&d->text, "\t// %s: %s: %s\n", f->backend, f->what, f->why);
		return;
	}
	while (k < d->n && d->hash[k] != f->hash)
		k++;
	if (k < d->n) {
		hu_str_addf(&d->text, "\t// %s: %s: order %d\n", f->backend, f->what, k + 1);
		return;
	}
	HU_GROW(d->hash, d->n, d->cap);
	d->hash[d->n++] = f->hash;
	char *label = hu_xprintf("%s: %s", f->backend, f->what);
	hu_str_addf(&d->text, "\tsubgraph cluster_%d {\n\t\tlabel=", d->n);
	quoted(&d->text, label);
	hu_str_add(&d->text, ";\n");
	nodes(&d->text, f->o, d->n, &sums);
	hu_str_add(&d->text, "\t}\n");
	free(label);
}

hu_status
hu_tree_dot_write(const hu_tree_dot *d, const char *path, const char *command)
{
	hu_str b;

	hu_str_init(&b);
	hu_str_addf(&b, "// %s\n// halfulp %s\n", command, hu_build_version());
	hu_str_add(&b, "digraph sums {\n\trankdir=BT;\n\tordering=in;\n\tfontname=\"sans-serif\";\n"
		       "\tnode [fontname=\"sans-serif\", fontsize=11, width=0.25, height=0.25, margin=0.02];\n"
		       "\tedge [arrowsize=0.5];\n");
	hu_str_addf(&b, "%s}\n", d->text.s ? d->text.s : "");
	hu_status st = hu_file_write(path, b.s, b.len);
	hu_str_release(&b);
	return st;
}

void
hu_tree_dot_release(hu_tree_dot *d)
{
	free(d->text.s);
	free(d->hash);
	memset(d, 0, sizeof *d);
}
