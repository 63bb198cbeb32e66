/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzers/op/op_run.h"

#include "analyzers/op/op_scaled.h"
#include "lib/base/mem.h"
#include "lib/base/memory/room.h"
#include "lib/number/code.h"
#include "lib/op/element/map.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Rounds to fp64. A tie, halfway between both neighbours, needs one bit more than fp64 has. */
static double
to_double(mpfr_srcptr exact, hu_mode mode)
{
	double low = mpfr_get_d(exact, MPFR_RNDZ), high = mpfr_get_d(exact, MPFR_RNDA);
	mpfr_t half;

	switch (mode) {
	case HU_RZ: return low;
	case HU_RU: return mpfr_get_d(exact, MPFR_RNDU);
	case HU_RD: return mpfr_get_d(exact, MPFR_RNDD);
	case HU_RO: return low != high && hu_isfinite(low) ? hu_from_bits64(hu_bits64(low) | 1) : low;
	case HU_RNA:
	case HU_RNZ: break;
	case HU_RNE: return mpfr_get_d(exact, MPFR_RNDN);
	case HU_SR:
	case HU_SRE:
	case HU_MODES: HU_ASSERT(!"a mode that draws has no one correctly rounded value");
	}
	mpfr_init2(half, 64);
	mpfr_set_d(half, low, MPFR_RNDN);
	mpfr_add_d(half, half, high, MPFR_RNDN);
	mpfr_div_2ui(half, half, 1, MPFR_RNDN);
	int tie = low != high && hu_isfinite(high) && !mpfr_cmp(half, exact);
	mpfr_clear(half);
	return !tie ? mpfr_get_d(exact, MPFR_RNDN) : mode == HU_RNA ? high : low;
}

/* Rounds the exact values to the output's format, in the call's mode where that draws no random bits, otherwise to
   nearest even. */
static void
round_once(hu_op_run *r)
{
	hu_mode mode = hu_mode_draws(r->call.mode) ? HU_RNE : r->call.mode;

	for (size_t i = 0; i < r->n; i++) {
		if (r->out.id == HU_FP64) {
			r->value[i] = to_double(r->exact[i], mode);
			continue;
		}
		double x = mpfr_get_d(r->exact[i], MPFR_RNDZ);
		if (hu_isfinite(x) && mpfr_cmp_d(r->exact[i], x))
			x = hu_from_bits64(hu_bits64(x) | 1); /* rounded to odd and then to the format, which is the
							         same as rounding once (p <= 51) */
		r->value[i] = hu_round(x, r->out, mode, 0, 0);
	}
}

/* Makes the operands tensors of their formats. */
static hu_status
operands(hu_op_run *r)
{
	for (int i = 0; i < r->nin; i++) {
		const hu_npy *f = &r->file[i];
		hu_tensor *t = &r->tensor[i];
		hu_format in = hu_format_of(r->in[i]);
		if (f->rank > HU_RANK || !f->count)
			return hu_fail(HU_EFILE,
				"operand %c has rank %d and %zu elements: rank 0 to %d and one element or more are "
				"needed",
				'a' + i, f->rank, f->count, HU_RANK);
		char name[] = { "operand a" };
		name[8] = (char)('a' + i);
		HU_TRY(hu_op_codes_fit(r, f, name, in));
		int chop = hu_sum_is_unit(r->sum.id) && r->in[i] == HU_TF32 && i < 2;
		t->format = r->in[i];
		t->shape.rank = f->rank;
		for (int d = 0; d < HU_RANK; d++)
			t->shape.d[d] = d < f->rank ? f->shape[d] : 1;
		t->n = f->count;
		t->data = hu_alloc(t->n * hu_element_size(t->format));
		if (!t->data)
			return hu_fail(HU_ENOMEM, "no memory for operand %c of %zu elements", 'a' + i, t->n);
		for (size_t k = 0; k < t->n; k++)
			hu_put(t, k, hu_op_codes_operand(r, i, k, chop));
	}
	return HU_OK;
}

/* Sets the results' formats: the first has the call's, the others have those of the operator. */
static void
results_of(hu_op_run *r)
{
	hu_tensor *in[HU_OP_INPUTS];

	for (int i = 0; i < r->nin; i++)
		in[i] = &r->tensor[i];
	r->outs[0] = r->call.fmt.out;
	for (int k = 1; k < r->call.op->nout; k++)
		r->outs[k] = hu_output_format(&r->call, in, k);
	r->out = hu_format_of(r->outs[r->result]);
}

/* Makes the call a program of its own, so that every back end can run it. */
static hu_program *
program(const hu_op_run *r, const hu_shape *results, int *in, int *out)
{
	hu_program *p = hu_program_new("op");
	char name[16];

	for (int i = 0; i < r->nin; i++) {
		snprintf(name, sizeof name, "op.%c", 'a' + i);
		in[i] = hu_program_tensor(p, name, r->in[i], r->tensor[i].shape, HU_OTHER);
	}
	for (int k = 0; k < r->call.op->nout; k++) {
		snprintf(name, sizeof name, "op.y%d", k);
		out[k] = hu_program_tensor(p, name, r->outs[k], results[k], HU_OTHER);
	}
	hu_call *c = hu_program_call(p, r->call.op->name, HU_FORWARD, "op", in, r->nin, out, r->call.op->nout);
	c->nattr = r->call.nattr;
	memcpy(c->attr, r->call.attr, sizeof c->attr);
	c->fmt.in = r->call.fmt.in;
	c->fmt.compute = r->call.fmt.compute;
	c->fmt.acc = r->call.fmt.acc;
	c->fmt.out = r->outs[0];
	c->mode = r->call.mode;
	c->sum = r->call.sum;
	strcpy(c->seed_name, r->call.seed_name);
	return p;
}

static hu_status
on_machine(hu_op_run *r, hu_machine *m, const int *in, int out)
{
	hu_tensor y = {
		.format = r->out.id, .shape = r->shape, .n = r->n, .data = hu_alloc(r->n * hu_element_size(r->out.id))
	};
	hu_status st = y.data ? HU_OK : hu_fail(HU_ENOMEM, "no memory for %zu elements", r->n);

	for (int i = 0; st == HU_OK && i < r->nin; i++)
		st = r->backend->write(m, in[i], r->tensor[i].data);
	if (st == HU_OK)
		st = r->backend->step(m, &r->env);
	if (st == HU_OK)
		st = r->backend->read(m, out, y.data);
	for (size_t k = 0; st == HU_OK && k < r->n; k++)
		r->value[k] = hu_get(&y, k);
	free(y.data);
	return st;
}

static hu_status
run_backend(hu_op_run *r, const hu_shape *results)
{
	int in[HU_OP_INPUTS], out[HU_OP_OUTPUTS];
	hu_program *p = program(r, results, in, out);
	hu_machine *m = NULL;
	hu_status st = r->backend->open(&m, p, r->gemm);

	if (st == HU_OK) {
		st = on_machine(r, m, in, out[r->result]);
		r->backend->close(m);
	}
	hu_program_free(p);
	return st;
}

/* Computes Σ|terms|; |exact| where the operator has no better way, since its terms have one sign. */
static hu_status
magnitudes(hu_op_run *r, hu_tensor *const *in, const size_t *element)
{
	const hu_op *op = r->call.op;

	r->magnitude = hu_alloc((r->n + 1) * sizeof *r->magnitude);
	if (!r->magnitude)
		return hu_fail(HU_ENOMEM, "no memory for the bounds of %zu elements", r->n);
	for (size_t k = 0; k < r->n; k++)
		r->magnitude[k] = fabs(mpfr_get_d(r->exact[k], MPFR_RNDA));
	return HU_COLUMN(op, magnitude)
		? HU_COLUMN(op, magnitude)(&r->call, in, r->result, element, r->n, r->magnitude)
		: HU_OK;
}

/* Fills probable and lambda from exact, bound, magnitude and roundings; with NaN where roundings say why there is no
   such bound. */
static hu_status
probable(hu_op_run *r)
{
	r->probable = hu_alloc((r->n + 1) * sizeof *r->probable);
	if (!r->probable)
		return hu_fail(HU_ENOMEM, "no memory for the bounds of %zu elements", r->n);
	r->lambda = r->roundings.none ? NAN : hu_roundings_lambda(&r->roundings, r->confidence, (double)r->n);
	for (size_t k = 0; k < r->n; k++) {
		/* the sum of magnitudes was rounded too: a few units of roundoff are added */
		double mag = r->roundings.none ? NAN : r->magnitude[k] * (1 + (r->roundings.terms + 4) * 0x1p-52);
		double p = r->roundings.none ? NAN
					     : hu_roundings_bound(&r->roundings, r->lambda, mag,
						       fabs(mpfr_get_d(r->exact[k], MPFR_RNDA)));
		r->probable[k] = r->roundings.none || !(r->bound[k] < INFINITY) ? NAN
				 : p < r->bound[k]                              ? p
										: r->bound[k];
	}
	return HU_OK;
}

static hu_status
judges(hu_op_run *r)
{
	const hu_op *op = r->call.op;
	hu_tensor *in[HU_OP_INPUTS];
	size_t *element = hu_alloc((r->n + 1) * sizeof *element);
	hu_status st;

	r->bound = hu_alloc((r->n + 1) * sizeof *r->bound);
	r->exact = hu_alloc((r->n + 1) * sizeof *r->exact);
	if (!element || !r->bound || !r->exact || !HU_COLUMN(op, reference)) {
		free(element);
		free(r->exact);
		r->exact = NULL;
		return HU_COLUMN(op, reference) ? hu_fail(HU_ENOMEM, "no memory for %zu exact values", r->n)
				     : hu_fail(HU_EUNABLE, "op %s has no reference", op->name);
	}
	for (int i = 0; i < r->nin; i++)
		in[i] = &r->tensor[i];
	for (size_t k = 0; k < r->n; k++) {
		element[k] = k;
		mpfr_init2(r->exact[k], 200);
	}
	st = HU_COLUMN(op, reference)(&r->call, in, r->result, element, r->n, r->exact);
	if (st == HU_OK && HU_COLUMN(op, bound))
		st = HU_COLUMN(op, bound)(&r->call, in, r->result, element, r->n, r->bound);
	r->roundings = HU_COLUMN(op, roundings) ? HU_COLUMN(op, roundings)(&r->call, in, r->result)
				     : (hu_roundings){ .none = "the result is no sum of its operands' terms" };
	if (st == HU_OK && !r->roundings.none)
		st = magnitudes(r, in, element);
	free(element);
	return st;
}

/* Checks before anything is allocated that the results, and the values read of one of them, fit into memory: hu_alloc
   touches all memory that it returns. */
static hu_status
fits_in_memory(const hu_op_run *r, const hu_shape *results)
{
	double need = 0, have = (double)hu_memory_limit();

	for (int k = 0; k < r->call.op->nout; k++)
		need += (double)hu_count(results[k]) * sizeof(float);
	need += (double)hu_count(results[r->result]) * sizeof(double);
	if (need <= have)
		return HU_OK;
	return hu_fail(HU_ENOMEM,
		"op %s: the result of %zu elements does not fit in memory: %.3g GB are needed, this process may have "
		"%.3g",
		r->call.op->name, hu_count(results[r->result]), need / 1e9, have / 1e9);
}

static hu_status
operator_of_table(hu_op_run *r, int judged)
{
	hu_shape shapes[HU_OP_INPUTS], results[HU_OP_OUTPUTS];
	const hu_op *op = r->call.op;

	if (op->nout > HU_OP_OUTPUTS || !op->nout)
		return hu_fail(HU_EINVAL, "op %s gives no array", op->name);
	HU_TRY(operands(r));
	for (int i = 0; i < r->nin; i++)
		shapes[i] = r->tensor[i].shape;
	r->call.nin = r->nin;
	r->call.nout = op->nout;
	memset(results, 0, sizeof results);
	if (hu_op_shape(&r->call, shapes, results) != HU_OK)
		return HU_EFILE; /* the command line may be right where the arrays are not */
	HU_TRY(fits_in_memory(r, results));
	results_of(r);
	r->shape = results[r->result];
	r->n = hu_count(r->shape);
	r->value = hu_alloc((r->n + 1) * sizeof *r->value);
	if (!r->value)
		return hu_fail(HU_ENOMEM, "op %s: no memory for a result of %zu elements", op->name, r->n);
	if (r->as == HU_AS_BACKEND || (r->as == HU_AS_BOUND && judged))
		HU_TRY(run_backend(r, results));
	return judged || r->as != HU_AS_BACKEND ? judges(r) : HU_OK;
}

hu_status
hu_op_run_all(hu_op_run *r, int judged)
{
	if (r->dot && strcmp(r->backend->name, "cpu"))
		return hu_fail(
			HU_EUNABLE, "op dot is summed on the CPU alone; back end %s has matmul", r->backend->name);
	if (r->sum.group && strcmp(r->backend->name, "cpu"))
		return hu_fail(
			HU_EUNABLE, "block-scaled sums run on the CPU alone, not on back end %s", r->backend->name);
	if (r->sum.group)
		HU_TRY(hu_op_run_scaled(r, judged || r->as != HU_AS_BACKEND, r->scale[0].data ? &r->scale[0] : NULL,
			r->scale[1].data ? &r->scale[1] : NULL));
	else
		HU_TRY(r->dot ? hu_op_run_dots(r, judged || r->as != HU_AS_BACKEND) : operator_of_table(r, judged));
	if (r->as == HU_AS_REFERENCE)
		round_once(r);
	return judged || r->as == HU_AS_BOUND ? probable(r) : HU_OK;
}

void
hu_op_run_close(hu_op_run *r)
{
	for (int i = 0; i < HU_OP_INPUTS; i++) {
		if (r->file[i].data)
			hu_npy_release(&r->file[i]);
		free(r->tensor[i].data);
	}
	for (int i = 0; i < 2; i++)
		if (r->scale[i].data)
			hu_npy_release(&r->scale[i]);
	for (size_t i = 0; r->exact && i < r->n; i++)
		mpfr_clear(r->exact[i]);
	free(r->exact);
	free(r->bound);
	free(r->magnitude);
	free(r->probable);
	free(r->value);
}
