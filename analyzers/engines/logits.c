/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzers/engines/logits.h"

#include "analyzers/drift/contents/contents.h"
#include "lib/base/show.h"
#include "lib/base/mem.h"
#include "lib/number/code.h"

#include <stdlib.h>
#include <string.h>

enum { PIECE = 1 << 16 }; /* elements that are read at once: of whole bytes in every format */

static int
serves(const hu_item *t, int tokens)
{
	return tokens ? t->kind == HU_ITEM_INT || t->kind == HU_ITEM_UINT : t->kind == HU_ITEM_FLOAT;
}

/* The array that is meant; NULL, with the reason, where that is not clear. */
static const hu_item *
choose(const hu_contents *c, const char *path, const char *name, int tokens)
{
	const char *usual = tokens ? "tokens" : "logits", *what = tokens ? "integers" : "floats";
	const hu_item *t = hu_contents_find(c, name ? name : usual), *only = NULL;
	size_t n = 0;

	if (t && serves(t, tokens))
		return t;
	if (t) {
		hu_fail(HU_EFILE, "%s: array %s has no %s: name another one", hu_shown(path), hu_shown(t->name), what);
		return NULL;
	}
	hu_str all;
	hu_str_init(&all);
	for (size_t i = 0; i < c->n; i++)
		if (serves(&c->item[i], tokens)) {
			only = &c->item[i];
			n++;
			if (n <= 8)
				hu_str_addf(&all, "%s%s", n > 1 ? ", " : "", hu_shown(only->name));
		}
	if (name || n != 1) {
		if (!n)
			hu_fail(HU_EFILE, "%s: no array has %s", hu_shown(path), what);
		else
			hu_fail(HU_EFILE, "%s: there is no array called %s: choose %s by --output", hu_shown(path),
				name ? name : usual, all.s);
		only = NULL;
	}
	hu_str_release(&all);
	return only;
}

static hu_status
set_shape(hu_logits *l, const hu_item *t, const char *path, int tokens)
{
	int rank = t->rank, last = tokens ? 0 : 1;

	if (rank != 1 + last && rank != 2 + last)
		return hu_fail(HU_EFILE, "%s: array %s has %d axes: %s are needed", hu_shown(path), hu_shown(t->name),
			rank,
			tokens ? "[positions] or [sequences, positions]"
			       : "[positions, classes] or [sequences, positions, classes]");
	l->sequences = rank == 2 + last ? t->shape[0] : 1;
	l->positions = t->shape[rank - 1 - last];
	l->classes = last ? t->shape[rank - 1] : 0;
	if (!t->count)
		return hu_fail(HU_EFILE, "%s: array %s is empty", hu_shown(path), hu_shown(t->name));
	return HU_OK;
}

static uint64_t
code_at(const unsigned char *p, int bits, size_t i)
{
	uint64_t code = 0;

	if (bits == 4)
		return p[i / 2] >> i % 2 * 4 & 15;
	memcpy(&code, p + i * (size_t)bits / 8, (size_t)bits / 8);
	return code;
}

static long long
whole(uint64_t code, int bits, int is_signed)
{
	int rest = 64 - bits;

	return is_signed ? (long long)(code << rest) >> rest : (long long)code;
}

static hu_status
read_values(hu_logits *l, const hu_contents *c, const hu_item *t, int tokens)
{
	hu_format f = tokens ? hu_format_of(HU_FP64) : hu_format_of(t->format);
	hu_item_reader r;
	const unsigned char *p;

	if (tokens)
		l->token = hu_alloc(t->count * sizeof *l->token);
	else
		l->x = hu_alloc(t->count * sizeof *l->x);
	if (!l->token && !l->x)
		return hu_fail(HU_ENOMEM, "no memory for %zu numbers", t->count);
	hu_status st = hu_item_open(&r, c, t, (size_t)PIECE * (size_t)t->bits / 8);
	for (size_t at = 0, n; st == HU_OK && at < t->count; at += n) {
		n = t->count - at < PIECE ? t->count - at : PIECE;
		st = hu_item_next(&r, (n * (size_t)t->bits + 7) / 8, &p);
		for (size_t i = 0; st == HU_OK && i < n; i++)
			if (tokens)
				l->token[at + i] = whole(code_at(p, t->bits, i), t->bits, t->kind == HU_ITEM_INT);
			else
				l->x[at + i] = hu_decode(code_at(p, t->bits, i), f);
	}
	hu_status end = hu_item_close(&r);
	return st == HU_OK ? end : st;
}

static hu_status
read_array(hu_logits *l, const char *path, const char *name, int tokens)
{
	hu_contents c;

	memset(l, 0, sizeof *l);
	HU_TRY(hu_contents_open(&c, path, NULL));
	const hu_item *t = choose(&c, path, name, tokens);
	hu_status st = t ? set_shape(l, t, path, tokens) : HU_EFILE;
	if (st == HU_OK)
		st = read_values(l, &c, t, tokens);
	hu_contents_release(&c);
	if (st != HU_OK)
		hu_logits_release(l);
	return st;
}

hu_status
hu_logits_read(hu_logits *l, const char *path, const char *name)
{
	return read_array(l, path, name, 0);
}

hu_status
hu_logits_tokens(hu_logits *l, const char *path, const char *name)
{
	return read_array(l, path, name, 1);
}

void
hu_logits_release(hu_logits *l)
{
	free(l->x);
	free(l->token);
	memset(l, 0, sizeof *l);
}
