/* SPDX-License-Identifier: Apache-2.0
   Emulates products by the models that have no blocked kernel (lib/sum/vector/lanes.h): a row at a time times panels of
   columns. */
#include "lib/op/contract/contract.h"
#include "lib/op/performed.h"

#include "lib/sum/vector/lanes.h"
#include "lib/sum/table/parts.h"

#include <stdlib.h>

#define HU_T float
#define HU_F(name) name##_f32
#define HU_N n32
#define HU_LANES f32
#include "lib/op/contract/contract_lanes.inc"

#define HU_T double
#define HU_F(name) name##_f64
#define HU_N n64
#define HU_LANES narrow
#include "lib/op/contract/contract_lanes.inc"

int
hu_contract_has_lanes(const hu_contract *x, const hu_call *c)
{
	hu_lanes_plan p;
	int f32;

	return !hu_is_wide(x->a->format) && !hu_is_wide(x->b->format) && x->k &&
	       hu_lanes_plan_of(&p, c->sum, x->k, &f32);
}

hu_status
hu_contract_lanes(const hu_contract *x, const hu_call *c, hu_tensor *y, size_t part, const hu_env *env)
{
	hu_lanes_plan p;
	int f32;

	if (!hu_lanes_plan_of(&p, c->sum, x->k, &f32))
		return hu_fail(HU_EUNABLE, "there is no kernel for this summation model");
	return f32 ? lanes_f32(x, c, y, part, env) : lanes_f64(x, c, y, part, env);
}
