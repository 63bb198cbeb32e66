/* SPDX-License-Identifier: Apache-2.0
   What the looks for the order of a product and of attention share. */
#ifndef HU_ANALYZERS_JUDGE_ORDER_PARTS_H
#define HU_ANALYZERS_JUDGE_ORDER_PARTS_H

#include "analyzers/judge/kernel/kernel_job.h"

#include "lib/op/tensor.h"

/* The operand of that name, or NULL. */
const hu_judge_array *hu_order_operand(const hu_kernel_job *j, const char *name);
/* A declared fact as a whole number, 0 where there is none. */
size_t hu_order_count(const hu_kernel_job *j, const char *key);
/* Reads an operand as a tensor of its declared or own format; the caller frees t->data. */
hu_status hu_order_tensor(const hu_kernel_job *j, const hu_judge_array *a, hu_tensor *t);

/* Whether the job is attention whose order hu_order_attention looks for, and the sentence that it writes. */
int hu_order_is_attention(const hu_kernel_job *j);
hu_status hu_order_attention(const hu_kernel_job *j, hu_judge_result *r);
#endif
