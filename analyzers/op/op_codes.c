/* SPDX-License-Identifier: Apache-2.0
   Arrays of codes: operands read from them, results written as them. */
#include "analyzers/op/op_run.h"

#include "lib/base/mem.h"
#include "lib/number/code.h"
#include "lib/sum/tc/tc.h"

#include <stdlib.h>
#include <string.h>

static int
holds_codes(const hu_op_run *r, const hu_npy *a)
{
	return r->codes && (a->dtype[0] == 'u' || a->dtype[0] == 'i');
}

/* Returns element i as the unsigned number that its bytes are, since a signed array may hold codes of its own width. */
static uint64_t
code_at(const hu_npy *a, size_t i)
{
	uint64_t code = 0;

	memcpy(&code, (const char *)a->data + i * a->width, a->width);
	return code;
}

double
hu_op_codes_element(const hu_op_run *r, const hu_npy *a, size_t i, hu_format f)
{
	return holds_codes(r, a) ? hu_decode(code_at(a, i), f) : hu_npy_real(a, i);
}

double
hu_op_codes_operand(const hu_op_run *r, int operand, size_t i, int chop)
{
	const hu_npy *a = &r->file[operand];
	hu_format f = hu_format_of(r->in[operand]);
	uint32_t word;

	if (!chop || holds_codes(r, a))
		return hu_round(hu_op_codes_element(r, a, i, f), f, HU_RNE, 0, 0);
	if (!strcmp(a->dtype, "f4"))
		memcpy(&word, (const char *)a->data + 4 * i, sizeof word); /* a NaN keeps its code */
	else
		word = hu_bits32((float)hu_npy_real(a, i));
	return (double)hu_from_bits32(hu_tc_tf32(word));
}

hu_status
hu_op_codes_fit(const hu_op_run *r, const hu_npy *a, const char *what, hu_format f)
{
	for (size_t i = 0; holds_codes(r, a) && f.bits < 64 && i < a->count; i++)
		if (code_at(a, i) >> f.bits)
			return hu_fail(HU_EFILE,
				"%s, element %zu: 0x%llx is no code of %s, which has %d bits; without --bits integers "
				"are numbers",
				what, i, (unsigned long long)code_at(a, i), hu_format_name(f.id), f.bits);
	return HU_OK;
}

uint64_t
hu_op_codes_of(const hu_op_run *r, double x)
{
	if (hu_isnan(x) && r->dot && r->sum.id == HU_SUM_TC)
		return r->out.id == HU_FP16 ? 0x7fff : r->out.id == HU_FP32 ? 0x7fffffff : hu_encode(x, r->out);
	return hu_encode(x, r->out);
}

static hu_status
write_codes(const hu_op_run *r, const char *path)
{
	int bits = r->out.bits, bytes = bits <= 8 ? 1 : bits <= 16 ? 2 : bits <= 32 ? 4 : 8;
	const char *dtype = r->out.id == HU_FP16   ? "f2"
			    : r->out.id == HU_FP32 ? "f4"
			    : r->out.id == HU_FP64 ? "f8"
			    : bytes == 1           ? "u1"
			    : bytes == 2           ? "u2"
						   : "u4";
	unsigned char *codes = hu_alloc((r->n + 1) * (size_t)bytes);
	hu_status st;

	if (!codes)
		return hu_fail(HU_ENOMEM, "no memory for %zu codes", r->n);
	for (size_t i = 0; i < r->n; i++) {
		uint64_t code = hu_op_codes_of(r, r->value[i]);
		memcpy(codes + i * (size_t)bytes, &code, (size_t)bytes); /* little endian, as npy.c asserts */
	}
	st = hu_npy_write(path, dtype, r->shape.rank, r->shape.d, codes);
	free(codes);
	return st;
}

hu_status
hu_op_codes_write(const hu_op_run *r, const char *path, int packed)
{
	const double *v = r->as == HU_AS_BOUND ? r->bound : r->value;
	int wide = r->as == HU_AS_BOUND;
	hu_status st;

	if (packed && !wide)
		return write_codes(r, path);
	float *x = hu_alloc((r->n + 1) * sizeof *x);
	if (!x)
		return hu_fail(HU_ENOMEM, "no memory for %zu elements", r->n);
	for (size_t i = 0; i < r->n; i++) {
		x[i] = (float)v[i];
		if (hu_isnan(v[i]) && r->out.id == HU_FP16 && r->dot && r->sum.id == HU_SUM_TC)
			x[i] = hu_from_bits32(0x7fffe000); /* fp16's 0x7fff, widened */
		wide |= !hu_isnan(v[i]) && (double)x[i] != v[i];
	}
	st = hu_npy_write(
		path, wide ? "f8" : "f4", r->shape.rank, r->shape.d, wide ? (const void *)v : (const void *)x);
	free(x);
	return st;
}
