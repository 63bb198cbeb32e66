/* SPDX-License-Identifier: Apache-2.0
   A version of a forward program with constants: the same network under a policy, or with its products quantised node
   by node. */
#ifndef HU_PROGRAM_VERSION_H
#define HU_PROGRAM_VERSION_H

#include "lib/program/policy/pass_policy.h"
#include "lib/program/quantise/range.h"

/* map[t] is the tensor of p that holds what tensor t of the original stands for, -1 where no call needs it. constant[i]
   are values of p's tensors that no call writes, data NULL of others; their format may be wider than the tensor's, and
   whoever loads them rounds. bits[i]: what tensor i takes in deployment, of a constant's codes their scales included;
   0: what its format takes; -1: nothing of its own, such as a scale that its codes already count, or a sum that never
   leaves its accumulator. weight_bytes: what all constants take, where a file says so; else 0. */
typedef struct hu_version {
	hu_program *p;
	hu_tensor *constant;
	char *owned; /* constant[i].data is this version's own */
	int *map;
	double *bits, weight_bytes;
	char *notes; /* sentences on how it was made, a line each; NULL: none */
} hu_version;

/* The version that hu_pass_policy and, by the policy's recipe, hu_pass_recipe make of P. */
hu_status hu_version_of_policy(hu_version *v, const hu_program *p, const hu_tensor *constant, const hu_policy *policy);

/* What is quantised. scheme[call]: its node's, NULL for float32. A node is the calls of one layer. quantisable[call]:
   it is a product that schemes other than FLOAT apply to. range[tensor]: what calibration showed of it, needed of
   operands with static scales (n > 0). keep[tensor]: it is read from outside, as the network's outputs are. */
typedef struct hu_scheme_plan {
	const hu_program *p;
	const hu_tensor *constant;
	const hu_scheme *const *scheme;
	const char *quantisable, *keep;
	const hu_range *range;
} hu_scheme_plan;

/* The version where each node has its scheme.
   FLOAT: the node's operands, those of them that are float32, and results are rounded to the format; its calls compute
   in float32. FLOAT8, INTEGER: both operands of its products become codes, whose products are summed, of integers
   exactly, of float codes as the call's sum says; the sum is rounded to float32 and multiplied by fl32(scale of a times
   scale of b). With `biases` a constant bias becomes what its codes by that scale are worth. With weights alone, and of
   BLOCK: a constant second operand is replaced by what remains of it.
   HU_EUNABLE names a node whose sums could leave 32 bits. */
hu_status hu_version_of_schemes(hu_version *v, const hu_scheme_plan *plan);
void hu_version_release(hu_version *v);

/* Writes the constants to the tensors T of v->p, rounded to nearest in their formats. */
void hu_version_load(const hu_version *v, hu_tensor *t);

/* 1 where the call's operand I takes part as codes with a scale from calibration under S. */
int hu_quantise_needs_range(const hu_scheme_plan *plan, const hu_call *c, int i, const hu_scheme *s);
#endif
