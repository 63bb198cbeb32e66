/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzers/op/op_idle.h"

#include "lib/base/console/opt_need.h"
#include "lib/number/block/block.h"
#include "lib/op/element/map.h"
#include "lib/op/element/pointwise.h"
#include "lib/op/reduce/summed.h"
#include "lib/sum/table/model.h"

#include <stdio.h>
#include <string.h>

static int
integers(const hu_npy *a)
{
	return a->data && (a->dtype[0] == 'u' || a->dtype[0] == 'i');
}

/* Returns 1 where --set has this key. */
static int
is_set(const hu_args *args, const char *key)
{
	const char *set;

	for (int i = 0; (set = hu_args_nth(args, "set", i)); i++)
		if (!strncmp(set, key, strlen(key)) && set[strlen(key)] == '=')
			return 1;
	return 0;
}

/* Returns 1 where the result that is rounded once depends on the summation model all the same: a tensor core says in
   which format the operands are, and dot without out= gives its result in the model's format. */
static int
reference_reads_sum(const hu_args *args, const hu_op_run *r)
{
	hu_sum plain = hu_sum_default();

	if (r->sum.in != HU_NO_FORMAT)
		return 1;
	if (r->in[0] == HU_FP64)
		plain.acc = HU_FP64;
	if (!r->dot || is_set(args, "out"))
		return 0;
	return hu_sum_resolve(&plain, r->in[0], r->in[1], HU_NO_FORMAT) != HU_OK ||
	       hu_part_format(plain).id != r->out.id;
}

/* Returns 1 where the exact result that is rounded once depends on the compute format all the same: it is in that
   format, as statistics beside a first result are, or a constant of the formula is, as the limits of clip are. */
static int
reference_reads_compute(const hu_op_run *r)
{
	static const hu_format_id formats[] = { HU_FP32, HU_FP16 }; /* any two, whose largest numbers differ */
	hu_tensor in[HU_OP_INPUTS] = { { .n = 0 } }, *pin[HU_OP_INPUTS];
	hu_format_id format[2];
	double k[2][HU_CONSTANTS] = { { 0 } };

	for (int i = 0; i < HU_OP_INPUTS; i++) {
		in[i].format = r->in[i];
		pin[i] = &in[i];
	}
	for (int i = 0; i < 2; i++) {
		hu_call c = r->call;
		const hu_pointwise *p = c.op->pointwise;
		c.nin = r->nin;
		c.fmt.compute = formats[i];
		format[i] = r->result ? hu_output_format(&c, pin, r->result) : HU_FP32;
		if (p && p->constants)
			p->constants(&c, k[i]);
	}
	return format[0] != format[1] || memcmp(k[0], k[1], sizeof k[0]) != 0;
}

/* Products and convolutions round in the formats of their summation model; what moves or compares elements computes
   nothing. */
static hu_status
refuse_idle_compute(const hu_args *args, const hu_op_run *r)
{
	const hu_op *op = r->call.op;

	if (!is_set(args, "compute") || hu_op_computes(op, r->result))
		return HU_OK;
	if (op->contract)
		return hu_refuse("set",
			"by compute= on products and convolutions, which compute in the summation model's format: "
			"--sum fma,acc=FORMAT");
	return hu_refuse("set", "by compute= on a result that is the same in whatever format the operator computes");
}

/* Refuses what --set says of roundings that the exact result, rounded once, does not have. */
static hu_status
refuse_idle_settings(const hu_args *args, const hu_op_run *r)
{
	char why[160];

	if (is_set(args, "compute") && !reference_reads_compute(r))
		return hu_refuse("set",
			"by compute= with --as reference, which rounds the exact result once; with --got the bounds "
			"beside it are of this format");
	if (!hu_mode_draws(r->call.mode))
		return HU_OK;
	snprintf(why, sizeof why,
		"by mode=%s with --as reference, which draws no random bits; with --got the bounds beside it are of "
		"this mode",
		hu_mode_name(r->call.mode));
	return hu_refuse("set", why);
}

/* Returns 1 where the elements of the block format that a call names are rounded stochastically. */
static int
draws_elements(const hu_call *c)
{
	hu_block b;

	return hu_block_find(hu_attr_text(c, "blocks", ""), &b) == HU_OK && hu_mode_draws(b.mode);
}

hu_status
hu_op_idle_refuse(const hu_args *args, const hu_op_run *r, const hu_npy *got)
{
	int codes = integers(got) || integers(&r->scale[0]) || integers(&r->scale[1]);

	for (int i = 0; i < r->nin; i++)
		codes |= integers(&r->file[i]);
	if (hu_args_given(args, "bits") && !codes)
		return hu_refuse("bits", "where no array holds integers");
	if (hu_args_given(args, "sum") && !r->dot && !hu_summed_or_product(&r->call))
		return hu_refuse("sum",
			"on an operator without a summation model (dot, matmul, the convolutions, all_reduce, softmax, "
			"losses, norms and other reductions have one)");
	if (hu_args_given(args, "sum") && r->as == HU_AS_REFERENCE && !got->data && !reference_reads_sum(args, r))
		return hu_refuse("sum",
			"with --as reference, which rounds the exact result once; with --got the bounds beside it are "
			"the model's");
	if (!r->dot)
		HU_TRY(refuse_idle_compute(args, r));
	if (r->as == HU_AS_REFERENCE && !got->data)
		HU_TRY(refuse_idle_settings(args, r));
	if (hu_args_given(args, "seed") && !hu_mode_draws(r->call.mode) && !hu_mode_draws(r->sum.mode) &&
		!draws_elements(&r->call))
		return hu_refuse("seed", "where nothing is rounded stochastically: --set mode=SR, --sum MODEL,mode=SR, "
					 "or a block format "
					 "with the word SR");
	return HU_OK;
}
