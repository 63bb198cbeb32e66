/* SPDX-License-Identifier: Apache-2.0
   The summation models by their numbers. */
#include "lib/sum/model/row.h"

const hu_sum_model *
hu_sum_model_of(hu_sum_id id)
{
	static const hu_sum_model *const rows[] = {
#define SUM(id, file, takes, result) &hu_sum_model_##file,
#include "lib/sum/sums.def"
#undef SUM
	};

	return rows[id];
}
