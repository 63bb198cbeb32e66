/* SPDX-License-Identifier: Apache-2.0
   The list of formulas for eight double-doubles at a time, and those of formulas.def. */
#include "lib/op/element/eights.h"

#include "lib/base/bug.h"
#include "lib/op/element/pointwise.h"

enum { MOST = 64 };

static const hu_eights *entered[MOST];
static size_t count;

void
hu_eights_enter(const hu_eights *pair)
{
	HU_ASSERT(count < MOST);
	entered[count++] = pair;
}

const hu_eights *
hu_eights_at(size_t i)
{
	return i < count ? entered[i] : NULL;
}

#ifdef HU_DDW
#define ONE(NAME, S, T) out[0][i] = hu_formula_##NAME##S(c, in[0][i])
#define TWO(NAME, S, T) out[0][i] = hu_formula_##NAME##S(c, in[0][i], in[1][i])
#define THREE(NAME, S, T) out[0][i] = hu_formula_##NAME##S(c, in[0][i], in[1][i], in[2][i])
#define FORMULA1(NAME, Y) HU_EIGHTS_LOOP(of_##NAME, ONE, NAME)
#define FORMULA2(NAME, Y) HU_EIGHTS_LOOP(of_##NAME, TWO, NAME)
#define FORMULA3(NAME, Y) HU_EIGHTS_LOOP(of_##NAME, THREE, NAME)
#include "lib/op/element/formulas.def"

hu_eights_block *
hu_eights_of_formula(hu_formula f)
{
	static hu_eights_block *const all[] = {
#define FORMULA1(NAME, Y) of_##NAME##_ddw,
#define FORMULA2(NAME, Y) of_##NAME##_ddw,
#define FORMULA3(NAME, Y) of_##NAME##_ddw,
#include "lib/op/element/formulas.def"
	};

	return all[f];
}
#else
hu_eights_block *
hu_eights_of_formula(hu_formula f)
{
	(void)f;
	return NULL;
}
#endif

hu_eights_block *
hu_eights_find(const hu_blocks *b)
{
	for (size_t i = 0; i < count; i++)
		if (entered[i]->dd == b->dd)
			return entered[i]->eights;
	for (int f = 0; f < HU_FORMULAS; f++)
		if (hu_formula_blocks((hu_formula)f)->dd == b->dd)
			return hu_eights_of_formula((hu_formula)f);
	return NULL;
}
