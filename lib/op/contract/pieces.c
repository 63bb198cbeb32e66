/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/op/contract/pieces.h"

enum { ZEROS = 4096 };

/* What a tap outside an image reads; with a stride so few terms at once that they end before it does. */
static const float zeros[ZEROS];

static size_t
least(size_t a, size_t b)
{
	return a < b ? a : b;
}

static size_t
outside(size_t terms, size_t stride)
{
	return least(terms, 1 + (ZEROS - 1) / stride);
}

/* Rows of a matrix whose terms are apart fill a line of the cache for a few floats each time that a panel of columns
   reads them. So do those of a gradient for filters, but to find where they lie costs more. */
int
hu_pieces_serve(const hu_contract *x, const hu_panel *kernel, size_t panels)
{
	enum { FEW = 4 };

	if (!kernel->pieces || hu_is_wide(x->a->format))
		return 0;
	return x->spots || panels <= FEW || x->row(x, 0, 0).stride == 1;
}

void
hu_pieces_rows(hu_pieces *p, const hu_contract *x, const hu_panel *kernel, size_t m, size_t rows)
{
	p->x = x;
	p->m = m;
	p->rows = rows;
	p->lanes = kernel->mr;
	if (x->spots)
		x->spots(x, m, rows, p->spot);
}

/* Appends a piece to n of them, or makes the last one longer where every row goes on in it. Returns how many there are
   then. */
static size_t
append(hu_panel_piece *all, size_t n, size_t rows, size_t lanes)
{
	hu_panel_piece *p = all + n, *last = all + (n ? n - 1 : 0);
	size_t i = 0;

	for (; n && i < rows; i++)
		if (p->row[i] != (p->row[i] == zeros ? last->row[i] : last->row[i] + last->terms * p->stride))
			break;
	if (n && i == rows && (p->stride == 1 || last->terms + p->terms <= outside(HU_PACK_TERMS, p->stride))) {
		last->terms += p->terms;
		return n;
	}
	for (i = rows; i < lanes; i++)
		p->row[i] = p->row[0];
	return n + 1;
}

/* The pieces of a term's stretch along which the column of the image stays. */
static size_t
in_channels(const hu_contract *x, const hu_spot *s, size_t rows, size_t lanes, const hu_spot *t, hu_panel_piece *all,
	size_t n)
{
	hu_panel_piece *p = all + n;
	const float *from = (const float *)x->a->data + t->offset;

	for (size_t i = 0; i < rows; i++)
		p->row[i] = (size_t)(s[i].y + t->y) < x->high && (size_t)(s[i].x + t->x) < x->wide
				    ? from + s[i].offset : zeros;
	p->terms = t->terms;
	p->stride = 1;
	return append(all, n, rows, lanes);
}

/* How many steps lead from a column to beyond `far` columns. */
static size_t
steps(size_t far, size_t step)
{
	return step == 1 ? far : (far + step - 1) / step;
}

/* The same where it grows: a piece ends where a row enters the image or leaves it. */
static size_t
in_columns(const hu_contract *x, const hu_spot *s, size_t rows, size_t lanes, const hu_spot *t, hu_panel_piece *all,
	size_t n)
{
	for (size_t at = 0, terms; at < t->terms; at += terms) {
		hu_panel_piece *p = all + n;
		const float *from = (const float *)x->a->data + t->offset + at * x->stride;
		ptrdiff_t column = t->x + (ptrdiff_t)(at * x->step);
		terms = t->terms - at;
		for (size_t i = 0; i < rows; i++) {
			ptrdiff_t left = s[i].x + column;
			int met = (size_t)(s[i].y + t->y) < x->high;
			if (met && (size_t)left < x->wide) {
				p->row[i] = from + s[i].offset;
				terms = least(terms, steps(x->wide - (size_t)left, x->step));
			} else {
				p->row[i] = zeros;
				terms = outside(met && left < 0 ? least(terms, steps((size_t)-left, x->step)) : terms,
					x->stride);
			}
		}
		p->terms = terms;
		p->stride = x->stride;
		n = append(all, n, rows, lanes);
	}
	return n;
}

/* The same by row(), for maps that have no halves. */
static size_t
by_stretches(const hu_contract *x, size_t m, size_t rows, size_t lanes, size_t k, size_t kc, hu_panel_piece *all)
{
	size_t n = 0;

	for (size_t end = k + kc; k < end; k += all[n++].terms) {
		hu_panel_piece *p = all + n;
		*p = (hu_panel_piece){ .terms = end - k, .stride = 1 };
		for (size_t i = 0; i < lanes; i++) {
			hu_stretch s = x->row(x, m + (i < rows ? i : 0), k);
			p->row[i] = s.offset < 0 ? zeros : (const float *)x->a->data + s.offset;
			p->stride = s.offset < 0 ? p->stride : s.stride;
			p->terms = least(p->terms, s.length);
		}
		p->terms = outside(p->terms, p->stride);
	}
	return n;
}

void
hu_pieces_terms(hu_pieces *p, size_t k, size_t kc)
{
	const hu_contract *x = p->x;
	size_t terms = 0, lanes = p->lanes;

	for (size_t at = 0; x->spots && at < kc; at += p->term[terms++].terms) {
		p->term[terms] = x->term(x, k + at);
		p->term[terms].terms = least(p->term[terms].terms, kc - at);
	}
	for (size_t g = 0; g * lanes < p->rows; g++) {
		const hu_spot *s = p->spot + g * lanes;
		size_t rows = least(p->rows - g * lanes, lanes), n = 0;
		if (!x->spots) {
			p->n[g] = by_stretches(x, p->m + g * lanes, rows, lanes, k, kc, p->piece[g]);
			continue;
		}
		for (size_t t = 0; t < terms; t++)
			n = (x->step ? in_columns : in_channels)(x, s, rows, lanes, p->term + t, p->piece[g], n);
		p->n[g] = n;
	}
}
