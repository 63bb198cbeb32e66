/* SPDX-License-Identifier: Apache-2.0
   Drawn calls of attention in blocks and of its gradients: shapes, blocks, masks, causality, shared keys; operands with
   infinities, NaN, subnormals and zeros among them where that is asked for. Each has two sets of results, which a test
   computes in two ways. */
#ifndef HU_T_FLASH_JOB_H
#define HU_T_FLASH_JOB_H

#include "lib/base/mem.h"
#include "lib/number/philox.h"
#include "lib/op/attr.h"
#include "lib/op/call.h"
#include "lib/op/op.h"
#include "lib/op/tensor.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static uint64_t counter;

static inline uint32_t
word(void)
{
	return hu_random_at(11, 5, 0, counter++).w[0];
}

static inline size_t
draw(size_t least, size_t most)
{
	return least + word() % (most - least + 1);
}

typedef struct job {
	hu_call c;
	hu_tensor in[7], *inp[7], plain[3], fast[3], *plainp[3], *fastp[3];
	int gradient;
} job;

static inline void
tensor(hu_tensor *t, hu_format_id f, hu_shape s, int strange)
{
	*t = (hu_tensor){ .format = f, .shape = s, .n = hu_count(s) };
	float *x = hu_xcalloc(t->n + 1, sizeof *x);

	t->data = x;
	for (size_t i = 0; i < t->n; i++) {
		double v = ((double)word() * 0x1p-31 - 1) * (word() % 8 ? 1 : 16);
		uint32_t w = word() % 4000;
		if (strange && w < 6)
			v = w == 0   ? INFINITY
			    : w == 1 ? NAN
			    : w == 2 ? 0
			    : w == 3 ? -0.0
			    : w == 4 ? 0x1p-130
				     : -0x1p-17;
		x[i] = (float)hu_rne(hu_format_of(f), v);
	}
}

static inline void
job_init(job *j, int gradient, hu_format_id f, int strange)
{
	size_t B = draw(1, 2), repeat = draw(1, 2), L = draw(1, 70), S = draw(1, 70), E = draw(1, 40), V = draw(1, 40);
	int mask = word() % 3, last = gradient ? 6 : 3;

	memset(j, 0, sizeof *j);
	j->gradient = gradient;
	j->c.op = hu_op_find(gradient ? "attention_dx" : "attention");
	j->c.fmt.in = j->c.fmt.out = f;
	j->c.fmt.compute = j->c.fmt.acc = HU_FP32;
	j->c.sum = hu_sum_default();
	j->c.mode = HU_RNE;
	j->c.nin = last + (mask == 1);
	j->c.nout = gradient ? 3 : 2 + (int)(word() % 2);
	snprintf(j->c.seed_name, sizeof j->c.seed_name, "test");
	hu_attr_set(&j->c, "block", (double)draw(1, 80));
	if (word() % 2)
		hu_attr_set(&j->c, "causal", 1);
	if (!gradient && word() % 2)
		hu_attr_set(&j->c, "stored", 1);
	tensor(&j->in[0], f, hu_shape3(B * repeat, L, E), strange);
	tensor(&j->in[1], f, hu_shape3(B, S, E), strange);
	tensor(&j->in[2], f, hu_shape3(B, S, V), strange);
	if (gradient) {
		tensor(&j->in[3], f, hu_shape3(B * repeat, L, V), strange);
		tensor(&j->in[4], HU_FP32, hu_shape2(B * repeat, L), strange);
		tensor(&j->in[5], f, hu_shape3(B * repeat, L, V), strange);
	}
	if (mask == 1) {
		tensor(&j->in[last], HU_FP32, hu_shape2(L, S), 0);
		for (size_t i = 0; i < j->in[last].n; i++)
			if (word() % 4 == 0)
				((float *)j->in[last].data)[i] = -INFINITY;
	}
	if (strange && word() % 2) { /* what was added before becomes a zero with a sign, and zeros are added to it */
		for (size_t i = 0; i < j->in[0].n; i++)
			((float *)j->in[0].data)[i] *= 64;
		for (size_t i = 0; i < j->in[2].n; i++)
			((float *)j->in[2].data)[i] *= (float)(word() % 4 == 0);
	}
	for (int k = 0; k < j->c.nin; k++)
		j->inp[k] = &j->in[k];
	for (int k = 0; k < j->c.nout; k++) {
		hu_shape s = gradient ? j->in[k].shape
			     : k == 1 ? hu_shape2(B * repeat, L)
				      : hu_shape3(B * repeat, L, V);
		tensor(&j->plain[k], k && !gradient ? HU_FP32 : f, s, 0);
		tensor(&j->fast[k], k && !gradient ? HU_FP32 : f, s, 0);
		j->plainp[k] = &j->plain[k];
		j->fastp[k] = &j->fast[k];
	}
}

static inline void
job_release(job *j)
{
	for (int k = 0; k < j->c.nin; k++)
		free(j->in[k].data);
	for (int k = 0; k < j->c.nout; k++) {
		free(j->plain[k].data);
		free(j->fast[k].data);
	}
}

static inline size_t
differing(const job *j)
{
	size_t n = 0;

	for (int k = 0; k < j->c.nout; k++)
		for (size_t i = 0; i < j->plain[k].n; i++)
			n += memcmp((float *)j->plain[k].data + i, (float *)j->fast[k].data + i, sizeof(float)) != 0;
	return n;
}
#endif
