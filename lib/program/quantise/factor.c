/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/program/quantise/factor.h"

#include "lib/base/mem.h"
#include "lib/number/round.h"
#include "lib/op/op.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

int
hu_factor_of(hu_factor *f, const hu_call *c, const hu_tensor *t)
{
	*f = (hu_factor){ .w = t->data };
	if (!t->data || t->format != HU_FP32 || c->nin != 2)
		return 0;
	if (!strcmp(c->op->name, "matmul") && t->shape.rank == 2 && hu_attr_num(c, "batch", 0) == 0) {
		f->transposed = hu_attr_num(c, "tb", 0) != 0;
		f->columns = t->shape.d[!f->transposed];
		f->k = t->shape.d[f->transposed];
		return 1;
	}
	if (strcmp(c->op->name, "conv2d") || t->shape.rank != 4)
		return 0;
	f->taps = t->shape.d[0] * t->shape.d[1];
	f->channels = t->shape.d[2];
	f->columns = t->shape.d[3];
	f->k = f->taps * f->channels;
	return 1;
}

/* Where term K of a column lies. */
static size_t
at(const hu_factor *f, size_t column, size_t k)
{
	if (f->taps)
		return (k % f->taps * f->channels + k / f->taps) * f->columns + column;
	return f->transposed ? column * f->k + k : k * f->columns + column;
}

/* The largest magnitude of a column, or of all. */
static float
amax(const hu_factor *f, size_t column, hu_grain grain)
{
	float most = 0;

	if (grain == HU_GRAIN_TENSOR)
		for (size_t i = 0; i < f->columns * f->k; i++)
			most = fmaxf(most, fabsf(f->w[i]));
	else
		for (size_t k = 0; k < f->k; k++)
			most = fmaxf(most, fabsf(f->w[at(f, column, k)]));
	return most;
}

void
hu_factor_codes(float *code, float *scale, double *most, const hu_factor *f, int bits, hu_grain grain)
{
	float top = (float)((1 << (bits - 1)) - 1);

	*most = 0;
	for (size_t j = 0; j < f->columns; j++) {
		double sum = 0;
		float s = grain == HU_GRAIN_TENSOR && j ? scale[0] : (float)((double)amax(f, j, grain) / (double)top);
		scale[j] = s >= FLT_MIN ? s : 1;
		for (size_t k = 0; k < f->k; k++) {
			size_t i = at(f, j, k);
			code[i] = fminf(fmaxf(rintf(f->w[i] / scale[j]), -top), top);
			sum += fabs((double)code[i]);
		}
		*most = sum > *most ? sum : *most;
	}
}

void
hu_factor_scaled(float *code, float *scale, const hu_factor *f, hu_format_id id, hu_grain grain)
{
	hu_format to = hu_format_of(id);
	float top = (float)to.max;

	for (size_t j = 0; j < f->columns; j++) {
		float s = grain == HU_GRAIN_TENSOR && j ? scale[0] : (float)((double)amax(f, j, grain) / to.max);
		scale[j] = s >= FLT_MIN ? s : 1;
		for (size_t k = 0; k < f->k; k++) {
			size_t i = at(f, j, k);
			float q = fminf(fmaxf(f->w[i] / scale[j], -top), top);
			code[i] = (float)hu_round((double)q, to, HU_RNE, 0, 0);
		}
	}
}

/* N weights that share a scale, in place. */
static void
group(float *w, size_t n, int bits, int asymmetric)
{
	float low = 0, high = 0, top = (float)((1 << bits) - 1), zero = (float)(1 << (bits - 1)), scale;

	for (size_t i = 0; i < n; i++) {
		low = fminf(low, w[i]);
		high = fmaxf(high, w[i]);
	}
	if (asymmetric) {
		scale = (high - low) / top;
		zero = scale != 0 ? fminf(fmaxf(rintf(-low / scale), 0), top) : 0;
	} else {
		scale = (high > -low ? high : low) / -zero;
	}
	float inverse = scale != 0 ? 1 / scale : 0;
	for (size_t i = 0; i < n; i++)
		w[i] = (fminf(fmaxf(roundf(w[i] * inverse + zero), 0), top) - zero) * scale;
}

static double
remains_of_groups(float *to, const hu_factor *f, const hu_scheme *s)
{
	size_t each = s->grain == HU_GRAIN_GROUP && s->group < f->k ? s->group : f->k, n = 0;
	float *w = hu_xmalloc(f->k * sizeof *w);
	double bits = 0;

	for (size_t j = 0; j < f->columns; j++) {
		for (size_t k = 0; k < f->k; k++)
			w[k] = f->w[at(f, j, k)];
		for (size_t k = 0; k < f->k; k += each, n++)
			group(w + k, f->k - k < each ? f->k - k : each, s->bits, s->asymmetric);
		for (size_t k = 0; k < f->k; k++)
			to[at(f, j, k)] = w[k];
	}
	bits = (double)(f->columns * f->k) * s->bits + (double)n * (32 + (s->asymmetric ? s->bits : 0));
	free(w);
	return bits;
}

/* Blocks along the terms of each column, of tiles across columns; a scale over all of them where the format has one. */
static double
remains_of_blocks(float *to, const hu_factor *f, const hu_block *b)
{
	float *w = hu_xmalloc(f->columns * f->k * sizeof *w);
	double bits = 0;

	for (size_t j = 0; j < f->columns; j++)
		for (size_t k = 0; k < f->k; k++)
			w[j * f->k + k] = f->w[at(f, j, k)];
	hu_block_cast_rows(b, w, w, f->columns, f->k);
	for (size_t j = 0; j < f->columns; j++)
		for (size_t k = 0; k < f->k; k++)
			to[at(f, j, k)] = w[j * f->k + k];
	free(w);
	for (size_t j = 0; j < f->columns; j += b->rows)
		bits += hu_block_bits(b, f->k * (f->columns - j < b->rows ? f->columns - j : b->rows));
	if (b->kind == HU_BLOCK_TWO_LEVEL) /* the scale over all of them is one */
		bits -= 32.0 * (double)((f->columns + b->rows - 1) / b->rows - 1);
	return bits;
}

double
hu_factor_remains(float *to, const hu_factor *f, const hu_scheme *s)
{
	size_t n = f->columns * f->k;
	double most, each = s->bits;

	if (s->kind == HU_SCHEME_BLOCK)
		return remains_of_blocks(to, f, &s->block);
	if (s->kind == HU_SCHEME_INTEGER && (s->grain == HU_GRAIN_GROUP || s->asymmetric))
		return remains_of_groups(to, f, s);
	float *scale = hu_xcalloc(f->columns + 1, sizeof *scale);
	if (s->kind == HU_SCHEME_INTEGER)
		hu_factor_codes(to, scale, &most, f, s->bits, s->grain);
	else
		hu_factor_scaled(to, scale, f, s->format, s->grain);
	for (size_t j = 0; j < f->columns; j++)
		for (size_t k = 0; k < f->k; k++)
			to[at(f, j, k)] *= scale[j];
	free(scale);
	return (double)n * each + 32.0 * (double)(s->grain == HU_GRAIN_TENSOR ? 1 : f->columns);
}

void
hu_factor_biases(int32_t *code, float *worth, const float *bias, const float *scale, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		float q = rintf(bias[i] / scale[i]), most = 0x1.fffffep30f;
		q = q > most ? most : q < -most ? -most : q;
		if (code)
			code[i] = (int32_t)q;
		if (worth)
			worth[i] = q * scale[i];
	}
}

int
hu_factor_bias_of(const hu_program *p, const hu_tensor *constant, const hu_call *c, const hu_call *product)
{
	int is = !strcmp(c->op->name, "bias") && c->in[0] == product->out[0] && constant[c->in[1]].data &&
		 p->t[c->in[1]].format == HU_FP32;

	return is ? c->in[1] : -1;
}
