/* SPDX-License-Identifier: Apache-2.0
   The list of formulas for several double-doubles at a time, those of formulas.def, and how they run on a block. */
#include "lib/op/element/ddw_loops.h"

#include "lib/base/bug.h"
#include "lib/op/element/pointwise.h"

enum { MOST = 64 };

static const hu_ddw_loops *entered[MOST];
static size_t count;

void
hu_ddw_loops_enter(const hu_ddw_loops *row)
{
	HU_ASSERT(count < MOST);
	entered[count++] = row;
}

const hu_ddw_loops *
hu_ddw_loops_at(size_t i)
{
	return i < count ? entered[i] : NULL;
}

#define ONE(NAME, S, T) out[0][i] = hu_formula_##NAME##S(c, in[0][i])
#define TWO(NAME, S, T) out[0][i] = hu_formula_##NAME##S(c, in[0][i], in[1][i])
#define THREE(NAME, S, T) out[0][i] = hu_formula_##NAME##S(c, in[0][i], in[1][i], in[2][i])
#define FORMULA1(NAME, Y) HU_DDW_BOTH(of_##NAME, ONE, NAME)
#define FORMULA2(NAME, Y) HU_DDW_BOTH(of_##NAME, TWO, NAME)
#define FORMULA3(NAME, Y) HU_DDW_BOTH(of_##NAME, THREE, NAME)
#include "lib/op/element/formulas.def"

const hu_ddw_loops *
hu_ddw_loops_of_formula(hu_formula f)
{
	static const hu_ddw_loops all[] = {
#define FORMULA1(NAME, Y) { #NAME, NULL, NULL, HU_DDW_OR_NULL(of_##NAME) },
#define FORMULA2(NAME, Y) FORMULA1(NAME, Y)
#define FORMULA3(NAME, Y) FORMULA1(NAME, Y)
#include "lib/op/element/formulas.def"
	};

	return &all[f];
}

static const hu_ddw_loops *
search(const hu_blocks *b)
{
	for (size_t i = 0; i < count; i++)
		if (entered[i]->dd == b->dd)
			return entered[i];
	for (int f = 0; f < HU_FORMULAS; f++)
		if (hu_formula_blocks((hu_formula)f)->dd == b->dd)
			return hu_ddw_loops_of_formula((hu_formula)f);
	return NULL;
}

const hu_ddw_loops *
hu_ddw_loops_find(const hu_blocks *b)
{
	/* A call asks for each of its blocks of elements. */
	static _Thread_local void (*last)(const hu_ctx_dd *c, size_t n, const hu_dd *const *in, hu_dd *const *out);
	static _Thread_local const hu_ddw_loops *found;

	if (b->dd != last) {
		found = search(b);
		last = b->dd;
	}
	return found;
}

#ifdef HU_DDW
enum { REGISTERS = 8 }; /* of each operand are on the stack at once */

/* An operand whose parts lie in arrays of their own: leading doubles or floats, trailing parts and errors. What is NULL
   is that of `all` for every element. */
typedef struct hu_ddw_apart {
	const double *h;
	const float *f;
	const double *l, *e;
	hu_dd all;
} hu_ddw_apart;

#define HU_DDW_EACH "lib/op/element/ddw/ddw_loops.inc"
#include "lib/exact/dd/ddw_each.h"
#define HU_DDW_EACH "lib/op/element/ddw/ddw_apart.inc"
#include "lib/exact/dd/ddw_each.h"

/* Whether elements first and on of a source are arrays, or one number. */
static int
is_apart(hu_ddw_apart *a, const hu_source *s, size_t first)
{
	const double *lo = s->low ? s->low->lo : NULL, *err = s->low ? s->low->err : NULL;
	int wide = hu_is_wide(s->t->format);

	*a = (hu_ddw_apart){ NULL, NULL, NULL, NULL, { 0, 0, 0 } };
	if (s->how == HU_ONE)
		a->all = (hu_dd){ hu_get(s->t, 0), lo ? lo[0] : 0, err ? err[0] : 0 };
	if (s->how != HU_EACH)
		return s->how == HU_ONE;
	a->h = wide ? (const double *)s->t->data + first : NULL;
	a->f = wide ? NULL : (const float *)s->t->data + first;
	a->l = lo ? lo + first : NULL;
	a->e = err ? err + first : NULL;
	return 1;
}

size_t
hu_ddw_loops_apart(const hu_map *m, const hu_ctx_dd *c, size_t first, size_t n, int out, double *hi, double *lo,
	double *err)
{
	hu_ddw_apart in[HU_MAP_IN];

	for (int i = 0; i < m->nin; i++)
		if (!is_apart(&in[i], &m->in[i], first))
			return 0;
	return HU_SIMD_PICK(hu_ddw8_apart(m->loops->by8, m, c, n, in, out, hi, lo, err),
		hu_ddw4_apart(m->loops->by4, m, c, n, in, out, hi, lo, err), 0);
}

size_t
hu_ddw_loops_run(const hu_ddw_loops *loops, const hu_map *m, const hu_ctx_dd *c, size_t n, const hu_dd *const *in,
	hu_dd *const *out)
{
	return HU_SIMD_PICK(
		hu_ddw8_run(loops->by8, m, c, n, in, out), hu_ddw4_run(loops->by4, m, c, n, in, out), 0);
}

size_t
hu_ddw_loops_bounded(const hu_ddw_loops *loops, const hu_map *m, const hu_ctx_bounded *c, size_t n,
	const hu_bounded *const *in, hu_bounded *const *out)
{
	if (c->f.id != HU_FP32 && c->f.id != HU_FP64)
		return 0;
	return HU_SIMD_PICK(hu_ddw8_bounded_run(loops->run8, m, c, n, in, out),
		hu_ddw4_bounded_run(loops->run4, m, c, n, in, out), 0);
}
#else
size_t
hu_ddw_loops_apart(const hu_map *m, const hu_ctx_dd *c, size_t first, size_t n, int out, double *hi, double *lo,
	double *err)
{
	return (void)m, (void)c, (void)first, (void)n, (void)out, (void)hi, (void)lo, (void)err, 0;
}

size_t
hu_ddw_loops_run(const hu_ddw_loops *loops, const hu_map *m, const hu_ctx_dd *c, size_t n, const hu_dd *const *in,
	hu_dd *const *out)
{
	return (void)loops, (void)m, (void)c, (void)n, (void)in, (void)out, 0;
}

size_t
hu_ddw_loops_bounded(const hu_ddw_loops *loops, const hu_map *m, const hu_ctx_bounded *c, size_t n,
	const hu_bounded *const *in, hu_bounded *const *out)
{
	return (void)loops, (void)m, (void)c, (void)n, (void)in, (void)out, 0;
}
#endif
