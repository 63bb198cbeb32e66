/* SPDX-License-Identifier: Apache-2.0
   Attention and its gradients in blocks of keys and of queries, as flash attention computes them, with every rounding
   and every order named. A call of attention or attention_dx that has block=N computes so.

   Forward, of one query, over blocks of N keys in ascending order. Its score of key j is x = RN(RN(q k') scale), where
   q k' is added by the call's summation model and scale is RN(factor log2 e); a mask adds RN(mask log2 e). m' is the
   larger of m, the largest score so far, and those of the block; p = exp2(RN(x - m')), alpha = exp2(RN(m - m')). The
   block's p are added in four lanes (hu_flash_lanes) to s, and l' = RN(RN(l alpha) + s). Each component of the result
   becomes RN(o alpha), from where the summation model goes on to add the block's products of p, rounded to the format
   of the values where that is narrower, and values. The result is RN(o / l), with stored=1 RN(h / l) where h is o
   rounded to the format of the result, and the logarithm of the sum of exponentials RN(RN(m ln 2) + RN(log l)). The
   third result is RN(o / l) in any case. Blocks whose keys causal=1 all hides are left out; a hidden key has p = +0
   and its value counts as +0.

   Backward, from the logarithm L: p = exp2(RN(x - RN(L log2 e))), D the products of dy and y added in the four lanes,
   where y is the third result if the call forward has unrounded=1,
   s = RN(p RN(dy v' - D)), rounded like p. dq adds s k over ascending blocks of keys, dk and dv add s q and p dy over
   ascending blocks of N queries, of all query matrices that share the keys; dq and dk are multiplied by RN(factor) at
   the end.

   In formats other than fp32 scores keep their base: scale is RN(factor), exponentials are those of e, rounded once. */
#ifndef HU_OP_CONTRACT_FLASH_H
#define HU_OP_CONTRACT_FLASH_H

#include "lib/op/contract/attention/arithmetic.h"
#include "lib/op/contract/attention/attention.h"
#include "lib/op/op.h"

/* Keys or queries of a block; 0: the call computes without blocks. */
size_t hu_flash_block(const hu_call *c);
/* Refuses, of a call with blocks, summation models that draw random bits, all-reduces, and units whose bound needs the
   operands of every sum; tensor cores are none of these. */
hu_status hu_flash_check(const hu_call *c);

/* What an exponential of fp32 errs at most, relative to itself (exp2.h), and below which magnitude it is 0. Of all 2^32
   floats 0x1.0533b2p-1 has the largest error, 1.41518 times 2^-24. */
#define HU_FLASH_EXP (1.4152 * 0x1p-24)
#define HU_FLASH_LEAST 0x1p-126

/* A call, settled: its format, that of the weights on their way into a product and of o
   before it is divided, the summation models of products with
   the operands and of products with weights. base is log2 e and back is ln 2 in fp32, elsewhere 1. */
typedef struct hu_flash {
	hu_attention a;
	const hu_call *c;
	hu_format f, narrow, held;
	hu_sum inner, outer;
	hu_flash_start start; /* of a sum of products with weights */
	size_t block;
	double scale, base, back;
} hu_flash;
hu_status hu_flash_of(hu_flash *x, const hu_call *c, hu_tensor *const *in, int gradient);

/* Each operation plainly, for all formats and models. The order of the loops over queries and keys is free: no result
   depends on another's. */
void hu_flash_forward(const hu_flash *x, hu_tensor *const *out, const hu_env *env);
void hu_flash_backward(const hu_flash *x, hu_tensor *const *out, const hu_env *env);

/* Operations of a whole call, from its shapes. */
double hu_flash_forward_operations(const hu_call *c, const hu_shape *in);
double hu_flash_backward_operations(const hu_call *c, const hu_shape *in);

/* One element's arithmetic, which both directions use. */
double hu_flash_exp(const hu_flash *x, double y);
double hu_flash_lanes(const hu_flash *x, const double *p, const double *by, size_t n);
double hu_flash_product(const hu_flash *x, hu_sum s, double *a, double *b, size_t n, const double *start);
double hu_flash_score(const hu_flash *x, size_t b, size_t i, size_t j, double *q, double *k);
int hu_flash_hidden(const hu_flash *x, size_t b, size_t i, size_t j);
#endif
