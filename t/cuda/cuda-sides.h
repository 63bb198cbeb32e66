/* SPDX-License-Identifier: Apache-2.0
   Tests of kernels run on each side there is: the launch shim wherever it was built, a GPU where one is; and
   a product of theirs against its emulation, bit for bit. */
#ifndef HU_T_CUDA_SIDES_H
#define HU_T_CUDA_SIDES_H

#include "cuda/device/device.h"
#include "cuda/exec/machine.h"
#include "cuda/fuse/side.h"
#include "lib/number/round.h"
#include "t/op/op-case.h"
#include "t/tool/tap.h"

#include <stdlib.h>
#include <string.h>

static inline hu_format_id
format(const char *name)
{
	hu_format_id f;

	if (hu_format_find(name, &f) != HU_OK)
		bail_out("%s", hu_reason());
	return f;
}

/* A product: operator, attributes, operands and output as in t/op/op-cases.def. */
typedef struct product { const char *op, *attrs, *in, *out; } product;

/* By WAY, with the sum and the operands' and the output's formats named: whether it has the emulation's bits. RAN:
   HU_RAN bytes for what computed it, or NULL. */
static inline int
product_agrees(const hu_side *side, const product *p, hu_gemm_way way, char *ran, const char *sum, const char *in,
	const char *to, int level, uint64_t seed)
{
	op_row row = { p->op, p->attrs, p->in, p->out };
	hu_env env = { seed, 5 };
	op_case k;
	size_t differ = 0, at = 0;

	if (op_case_init(&k, &row, format(in), HU_FP32, format(to), level, seed) != HU_OK ||
		hu_sum_parse(sum, &k.c.sum) != HU_OK)
		bail_out("%s", hu_reason());
	hu_tensor got = op_tensor(k.out[0].format, k.out[0].shape), *out = &got;
	hu_shim_seed(seed);
	hu_status st = op_case_emulate(&k, &env), own = hu_device_call_by(side, way, ran, &k.c, k.pin, &out, &env);
	if (st != HU_OK || (own != HU_OK && (own != HU_EUNABLE || way == HU_GEMM_AUTO)))
		diag("%s %s: %s", p->op, sum, hu_reason());
	for (size_t i = got.n; i-- > 0 && st == HU_OK && own == HU_OK;)
		if (hu_bits64(hu_get(&got, i)) != hu_bits64(hu_get(&k.out[0], i))) {
			at = i;
			differ++;
		}
	if (differ)
		diag("%s %s %s, %s to %s%s%s, level %d, seed %llu: %zu of %zu differ, first %zu: %a, not %a", p->op,
			p->attrs, sum, in, to, ran ? ", " : "", ran ? ran : "", level, (unsigned long long)seed, differ,
			got.n, at, hu_get(&got, at), hu_get(&k.out[0], at));
	free(got.data);
	op_case_release(&k);
	return st == HU_OK && own == HU_OK && !differ;
}

/* Whether the shim is tested too: not with HALFULP_GPU_ONLY=1, which spares a machine with a GPU what needs none. */
static inline int
on_shim_too(void)
{
	const char *only = getenv("HALFULP_GPU_ONLY");

	return !(only && !strcmp(only, "1"));
}

/* TEST on each side; ON_SHIM, where not NULL, on the shim alone, which must leave nothing allocated. */
static inline void
on_each_side(void (*test)(const hu_side *side), void (*on_shim)(const hu_side *side))
{
#ifdef HU_HAVE_SHIM
	if (on_shim_too()) {
		test(&hu_shim_side);
		if (on_shim)
			on_shim(&hu_shim_side);
		is_int((long long)hu_shim_allocated(), 0, "shim: nothing was left allocated");
	} else {
		skip(1, "HALFULP_GPU_ONLY is set: the shim's part is left out");
	}
#else
	(void)on_shim;
	skip(1, "no C++ compiler was found: the kernels are not compiled for the host");
#endif
#ifdef HU_HAVE_CUDA
	if (hu_device_count())
		test(&hu_gpu_side);
	else
		skip(1, "cuda: %s", hu_device_why());
#else
	(void)test;
#endif
}
#endif
