/* SPDX-License-Identifier: Apache-2.0
   Operands and facts of a job by their names, as the looks for the order of a product and of attention read them. */
#include "analyzers/judge/order/order_parts.h"

#include "lib/base/mem.h"

#include <stdlib.h>
#include <string.h>

const hu_judge_array *
hu_order_operand(const hu_kernel_job *j, const char *name)
{
	for (int i = 0; i < j->nin; i++)
		if (!strcmp(j->in[i].name, name))
			return &j->in[i];
	return NULL;
}

size_t
hu_order_count(const hu_kernel_job *j, const char *name)
{
	const char *s = hu_facts_text(&j->facts, name);

	return s ? (size_t)strtoull(s, NULL, 10) : 0;
}

hu_status
hu_order_tensor(const hu_kernel_job *j, const hu_judge_array *a, hu_tensor *t)
{
	hu_format f;

	HU_TRY(hu_kernel_job_format(j, "in", &a->a, &f));
	*t = (hu_tensor){ .format = f.id, .n = a->a.count };
	t->shape.rank = a->a.rank;
	for (int d = 0; d < a->a.rank && d < HU_RANK; d++)
		t->shape.d[d] = a->a.shape[d];
	t->data = hu_xmalloc((t->n + 1) * hu_element_size(t->format));
	for (size_t i = 0; i < t->n; i++)
		hu_put(t, i, hu_kernel_job_element(j, &a->a, i, f));
	return HU_OK;
}
