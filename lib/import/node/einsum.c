/* SPDX-License-Identifier: Apache-2.0
   Einsum: one operand after another is multiplied to what the first ones gave. A letter that nothing later needs is
   summed: inside the product where both operands have it, else beforehand. */
#include "lib/import/importing.h"

#include <ctype.h>
#include <string.h>

enum { LETTERS = 128, FIRST_DOT = 1 }; /* the axes of an ellipsis are the letters 1, 2, … from the last one back */

/* A tensor with a letter for each axis. */
typedef struct term {
	int t, n;
	char letter[HU_RANK];
} term;

typedef struct sum {
	hu_importing *c;
	size_t size[LETTERS];
	char out[HU_RANK];
	int nout, dots;            /* axes that an ellipsis stands for, the most of any operand */
} sum;

static int
has(const char *letter, int n, char x)
{
	return n > 0 && memchr(letter, x, (size_t)n) != NULL;
}

/* The letters of one operand's text, which ends at a comma, an arrow or the end; RANK axes. Returns their number, -1
   where they do not fit. */
static int
letters(sum *s, const char **text, int rank, char *to)
{
	int named = 0, n = 0, dots;

	for (const char *p = *text; *p && *p != ',' && *p != '-'; p++)
		named += isalpha((unsigned char)*p) != 0;
	dots = rank - named;
	for (; **text && **text != ',' && **text != '-'; (*text)++) {
		if (!strncmp(*text, "...", 3)) {
			s->dots = dots > s->dots ? dots : s->dots;
			for (int i = dots; i > 0 && n < HU_RANK; i--)
				to[n++] = (char)(FIRST_DOT + i - 1);
			*text += 2;
		} else if (isalpha((unsigned char)**text)) {
			if (n == HU_RANK)
				return -1;
			to[n++] = **text;
		} else if (**text != ' ') {
			return -1;
		}
	}
	return n == rank ? n : -1;
}

/* X with its axes in the order of LETTER, N of them; what X lacks has one element. */
static int
arranged(const sum *s, const term *x, const char *letter, int n)
{
	hu_axes a = { .s = { .rank = n } };

	if (x->t < 0)
		return -1;
	for (int i = 0; i < n; i++) {
		a.from[i] = -1;
		a.step[i] = 1;
		a.s.d[i] = 1;
		for (int k = 0; k < x->n; k++)
			if (x->letter[k] == letter[i]) {
				a.from[i] = k;
				a.s.d[i] = s->c->p->t[x->t].shape.d[k];
			}
	}
	return hu_import_move(s->c, x->t, &a);
}

/* Takes the diagonal where X has a letter twice. */
static void
diagonal(const sum *s, term *x)
{
	for (int i = 0; i < x->n; i++)
		for (int k = i + 1; k < x->n; k++) {
			if (x->letter[i] != x->letter[k] || x->t < 0)
				continue;
			char order[HU_RANK];
			int n = 0;
			for (int j = 0; j < x->n; j++)
				if (j != i && j != k)
					order[n++] = x->letter[j];
			size_t d = s->size[(int)x->letter[i]];
			hu_axes a = { .s = { .rank = x->n } };
			for (int j = 0, to = 0; j < x->n; j++)
				if (j != i && j != k) {
					a.from[to] = j;
					a.step[to] = 1;
					a.s.d[to++] = s->c->p->t[x->t].shape.d[j];
				}
			for (int j = 0; j < 2; j++) {
				a.from[n + j] = j ? k : i;
				a.step[n + j] = 1;
				a.s.d[n + j] = d;
			}
			size_t rest = hu_count(a.s) / (d * d);
			int t = hu_import_flat(s->c, hu_import_move(s->c, x->t, &a), hu_shape2(rest, d * d));
			/* each (d + 1)th element of a d x d matrix */
			hu_axes pick = hu_axes_same(hu_shape2(rest, d));
			pick.step[1] = (double)d + 1;
			t = hu_import_move(s->c, t, &pick);
			order[n] = x->letter[i];
			a.s.rank = x->n = n + 1;
			x->t = hu_import_flat(s->c, t, a.s);
			memcpy(x->letter, order, sizeof order);
			k = i;
		}
}

/* Sums over the letters of X that KEEP (N letters) does not have. */
static void
sum_alone(const sum *s, term *x, const char *keep, int n)
{
	for (int i = x->n - 1; i >= 0; i--) {
		if (has(keep, n, x->letter[i]))
			continue;
		hu_import_set(s->c, "axis", i);
		x->t = hu_import_call1(s->c, "reduce_sum", x->t);
		memmove(x->letter + i, x->letter + i + 1, (size_t)(x->n - i - 1));
		x->n--;
	}
}

/* Appends to TO, which has N letters, those of X that OTHER has (or has not, as SHARED says) and that NEED has (or has
   not, as NEEDED says). Returns the number then; *size gets the product of their sizes. */
static int
pick(const sum *s, const term *x, const term *other, const char *need, int nneed, int shared, int needed, char *to,
	int n, size_t *size)
{
	*size = 1;
	for (int i = 0; i < x->n; i++)
		if (has(other->letter, other->n, x->letter[i]) == shared && has(need, nneed, x->letter[i]) == needed) {
			to[n++] = x->letter[i];
			*size *= s->size[(int)x->letter[i]];
		}
	return n;
}

/* X repeated along ellipsis axes in which it has one element and the sum has more. */
static void
widen(const sum *s, term *x)
{
	hu_shape to = { .rank = x->n };

	for (int i = 0; i < x->n; i++)
		to.d[i] = s->size[(int)x->letter[i]];
	x->t = hu_import_expand(s->c, x->t, to);
}

/* The product of A and B, keeping the letters NEED. */
static term
multiply(const sum *s, term *a, term *b, const char *need, int nneed)
{
	char order[2 * HU_RANK], batched[2 * HU_RANK];
	size_t batch, rows, inner, columns, same;
	term y = { .t = -1 };
	char keep[LETTERS];
	int n;

	n = nneed;
	memcpy(keep, need, (size_t)nneed);
	memcpy(keep + n, b->letter, (size_t)b->n);
	sum_alone(s, a, keep, n + b->n);
	memcpy(keep + n, a->letter, (size_t)a->n);
	sum_alone(s, b, keep, n + a->n);
	int nb = pick(s, a, b, need, nneed, 1, 1, batched, 0, &batch);
	memcpy(order, batched, sizeof order);
	int nr = pick(s, a, b, need, nneed, 0, 1, order, nb, &rows),
	    nk = pick(s, a, b, need, nneed, 1, 0, order, nr, &inner);
	if (nk > HU_RANK || nr + b->n > 2 * HU_RANK) {
		hu_import_fail(s->c, HU_EUNABLE, "it has more than %d axes together", HU_RANK);
		return y;
	}
	int left = hu_import_flat(s->c, arranged(s, a, order, nk), hu_shape3(batch, rows, inner));
	memcpy(keep, order, (size_t)nr); /* the result's letters: batch, rows, columns */
	memcpy(batched + nb, order + nr, (size_t)(nk - nr));
	int nl = nb + nk - nr, nc = pick(s, b, a, need, nneed, 0, 1, batched, nl, &same), ny = nr + nc - nl;
	columns = same;
	if (ny > HU_RANK) {
		hu_import_fail(s->c, HU_EUNABLE, "it has more than %d axes together", HU_RANK);
		return y;
	}
	int right = hu_import_flat(s->c, arranged(s, b, batched, nc), hu_shape3(batch, inner, columns));
	memcpy(keep + nr, batched + nl, (size_t)(nc - nl));
	hu_import_set(s->c, "batch", 1);
	y.t = hu_import_call2(s->c, "matmul", left, right);
	hu_shape shape = { .rank = ny };
	for (int i = 0; i < ny; i++)
		shape.d[i] = s->size[(int)keep[i]];
	y.t = hu_import_flat(s->c, y.t, shape);
	y.n = ny;
	memcpy(y.letter, keep, (size_t)ny);
	return y;
}

/* Without an arrow: an ellipsis, then the letters that occur once, in the alphabet's order. */
static void
implied(sum *s, const int *often)
{
	for (int i = s->dots; i > 0; i--)
		s->out[s->nout++] = (char)(FIRST_DOT + i - 1);
	for (int x = 'A'; x <= 'z' && s->nout < HU_RANK; x++)
		if (often[x] == 1)
			s->out[s->nout++] = (char)x;
}

enum { TERMS = 16 };

/* Reads the equation and the operands' axes. Returns -1 after a failure. */
static int
read_equation(sum *s, term *x, size_t n)
{
	const char *text = hu_import_text(s->c, "equation", "");
	int often[LETTERS] = { 0 };

	for (size_t i = 0; i < n; i++, text += *text == ',') {
		hu_value *v = hu_import_in(s->c, i);
		if (!v)
			return -1;
		while (*text == ' ')
			text++;
		x[i].n = letters(s, &text, v->rank, x[i].letter);
		if (x[i].n < 0 || (*text == ',') != (i + 1 < n))
			return hu_import_fail(s->c, HU_EFILE, "its equation does not fit operand %zu", i);
		for (int k = 0; k < x[i].n; k++) {
			size_t *size = &s->size[(int)x[i].letter[k]];
			if (*size > 1 && v->d[k] > 1 && *size != v->d[k])
				return hu_import_fail(s->c, HU_EFILE,
					"axis %d of operand %zu has %zu elements, not %zu", k, i, v->d[k], *size);
			*size = v->d[k] > *size ? v->d[k] : *size;
			often[(int)x[i].letter[k]]++;
		}
		x[i].t = hu_import_plain(s->c, v);
	}
	if (*text != '-') {
		implied(s, often);
		return 0;
	}
	text += 2;
	int rank = s->dots * (strstr(text, "...") != NULL);
	for (const char *p = text; *p; p++)
		rank += isalpha((unsigned char)*p) != 0;
	int dots = s->dots;
	s->nout = rank > HU_RANK ? -1 : letters(s, &text, rank, s->out);
	for (int i = 0; i < s->nout; i++)
		if (!s->size[(int)s->out[i]])
			s->nout = -1;
	return s->nout < 0 || s->dots != dots ? hu_import_fail(s->c, HU_EFILE, "its equation names no such result") : 0;
}

void
hu_node_einsum(hu_importing *c)
{
	sum s = { .c = c };
	term x[TERMS] = { { .t = -1 } }, y;
	size_t n = c->node->nin, d[HU_RANK] = { 0 };
	char need[TERMS * HU_RANK];
	hu_value *v = hu_import_in(c, 0);

	if (!v)
		return;
	if (n > TERMS) {
		hu_import_fail(c, HU_EUNABLE, "it has %zu operands; at most %d are possible", n, TERMS);
		return;
	}
	if (read_equation(&s, x, n) < 0)
		return;
	for (size_t i = 0; i < n; i++) {
		diagonal(&s, &x[i]);
		widen(&s, &x[i]);
	}
	y = x[0];
	for (size_t i = 1; i < n && c->st == HU_OK; i++) {
		int m = s.nout;
		memcpy(need, s.out, (size_t)s.nout);
		for (size_t k = i + 1; k < n; k++, m += x[k - 1].n)
			memcpy(need + m, x[k].letter, (size_t)x[k].n);
		y = multiply(&s, &y, &x[i], need, m);
	}
	sum_alone(&s, &y, s.out, s.nout);
	int t = arranged(&s, &y, s.out, s.nout);
	for (int i = 0; i < s.nout; i++)
		d[i] = s.size[(int)s.out[i]];
	hu_import_out(c, 0, v->type, s.nout, d)->plain = t;
}
