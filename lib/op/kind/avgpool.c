/* SPDX-License-Identifier: Apache-2.0
   avgpool: y[N,C] = the mean over an image's pixels for each channel. */
#include "lib/op/reduce/reduce_family.h"

static hu_status
shape(const hu_call *c, hu_shape x, hu_shape *y, hu_reduce_dims *d)
{
	(void)c;
	if (x.rank != 4 || !hu_count(x))
		return hu_fail(HU_EINVAL, "avgpool: the image must have rank 4");
	*y = hu_shape2(x.d[0], x.d[3]);
	*d = (hu_reduce_dims){ x.d[0], x.d[1] * x.d[2], x.d[3] };
	return HU_OK;
}

static const hu_grad grad[] = {
	{ "avgpool_dx", "d0", "i0", "height=i0.1 width=i0.2", NULL },
	{ NULL, NULL, NULL, NULL, NULL },
};

const hu_op hu_op_avgpool = {
	.name = "avgpool", .summary = "mean of each channel over an image", .min_in = 1, .max_in = 1, .nout = 1,
	.cls = HU_CLASS_POINTWISE, .parity = HU_PARITY_EXACT,
	.family = &hu_family_reduce, .reduce = &(hu_reduce_own){ .shape = shape, .finish = HU_FINISH_MEAN },
	.grad = grad,
};
