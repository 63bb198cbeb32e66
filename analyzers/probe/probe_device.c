/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzers/probe/probe_device.h"

#include "cuda/device/device.h"
#include "cuda/probe/probe.h"
#include "lib/base/mem.h"
#include "lib/number/code.h"

#include <stdlib.h>
#include <string.h>

static const hu_instruction instructions[] = {
#define INSTRUCTION(name, kind, half, k, in, out, path)                                                                \
	{ name, HU_PROBE_##kind, half, k, HU_##in, HU_##out, HU_TC_##path },
#include "analyzers/probe/instructions.def"
#undef INSTRUCTION
};

enum { STEPS = 16 };  /* most instructions in the chain of a probe's sum */

const hu_instruction *
hu_instruction_at(int i)
{
	return i >= 0 && i < (int)(sizeof instructions / sizeof *instructions) ? &instructions[i] : NULL;
}

int
hu_instruction_of(const hu_instruction *i, hu_tc_arch arch)
{
	return arch >= HU_TC_AMPERE && hu_tc_of(arch, i->in, i->path).kind >= 0;
}

static hu_status
find_side(const char *backend, const hu_side **side)
{
	*side = NULL;
#ifdef HU_HAVE_SHIM
	if (!strcmp(backend, "shim"))
		*side = &hu_shim_side;
#endif
#ifdef HU_HAVE_CUDA
	if (!strcmp(backend, "cuda"))
		*side = &hu_gpu_side;
#endif
	if (*side)
		return HU_OK;
	if (!strcmp(backend, "cuda"))
		return hu_fail(HU_EUNABLE, "--backend cuda: this build has no CUDA (configure --with-cuda=yes)");
	if (!strcmp(backend, "shim"))
		return hu_fail(HU_EUNABLE, "--backend shim: configure found no C++ compiler for it");
	return hu_fail(HU_EINVAL, "--backend %s: model, cuda or shim is needed", backend);
}

static hu_status
room(hu_probe_device *p, size_t tiles, unsigned steps)
{
	void *a = NULL, *b = NULL, *c = NULL, *d = NULL;

	if (tiles * steps <= p->tiles * p->steps && tiles <= p->tiles)
		return HU_OK;
	p->side->release(p->a);
	p->side->release(p->b);
	p->side->release(p->c);
	p->side->release(p->d);
	p->a = p->b = NULL;
	p->c = p->d = NULL;
	p->tiles = 0;
	hu_status st = p->side->alloc(&a, tiles * steps * HU_PROBE_A * sizeof *p->a);
	p->a = a;
	if (st == HU_OK)
		st = p->side->alloc(&b, tiles * steps * HU_PROBE_B * sizeof *p->b);
	p->b = b;
	if (st == HU_OK)
		st = p->side->alloc(&c, tiles * HU_PROBE_C * sizeof *p->c);
	p->c = c;
	if (st == HU_OK)
		st = p->side->alloc(&d, tiles * HU_PROBE_C * sizeof *p->d);
	p->d = d;
	if (st == HU_OK) {
		p->tiles = tiles;
		p->steps = steps;
	}
	return st;
}

hu_status
hu_probe_open(hu_probe_device *p, const char *backend, hu_tc_arch arch)
{
	memset(p, 0, sizeof *p);
	HU_TRY(find_side(backend, &p->side));
	if (!strcmp(backend, "cuda") && !hu_device_count())
		return hu_fail(HU_EDEVICE, "--backend cuda: %s", hu_device_why());
	hu_status st = p->side->open(&p->queue);
	int own = st == HU_OK ? p->side->arch() : -1;
	p->arch = own >= 0 ? (hu_tc_arch)own : arch;
	if (st == HU_OK && own == HU_TC_ARCHS)
		st = hu_fail(
			HU_EUNABLE, "--backend %s: its matrix units are of no architecture that has a model", backend);
	if (st == HU_OK && own >= 0 && own < HU_TC_AMPERE)
		st = hu_fail(HU_EUNABLE,
			"--backend %s: the kernels' instructions are those of capability 8.0 and newer", backend);
	if (st == HU_OK)
		st = hu_probe_take(p, &instructions[0]);
	if (st != HU_OK)
		hu_probe_close(p);
	return st;
}

void
hu_probe_close(hu_probe_device *p)
{
	if (!p->side)
		return;
	p->side->release(p->a);
	p->side->release(p->b);
	p->side->release(p->c);
	p->side->release(p->d);
	if (p->queue)
		p->side->close(p->queue);
	memset(p, 0, sizeof *p);
}

static hu_status send(hu_probe_device *p, float *d, const uint32_t *a, const uint32_t *b, const float *c, size_t tiles,
	unsigned steps);

hu_status
hu_probe_take(hu_probe_device *p, const hu_instruction *i)
{
	uint32_t a[HU_PROBE_A] = { 0 }, b[HU_PROBE_B] = { 0 };
	float c[HU_PROBE_C] = { 0 }, d[HU_PROBE_C];

	p->i = i;
	p->failed = HU_OK;
	HU_TRY(room(p, 1, STEPS));
	return send(p, d, a, b, c, 1, 1);
}

/* Executes the instruction on tiles in host memory. */
static hu_status
send(hu_probe_device *p, float *d, const uint32_t *a, const uint32_t *b, const float *c, size_t tiles, unsigned steps)
{
	const hu_side *s = p->side;

	HU_TRY(room(p, tiles, steps));
	HU_TRY(s->upload(p->queue, p->a, a, tiles * steps * HU_PROBE_A * sizeof *a));
	HU_TRY(s->upload(p->queue, p->b, b, tiles * steps * HU_PROBE_B * sizeof *b));
	HU_TRY(s->upload(p->queue, p->c, c, tiles * HU_PROBE_C * sizeof *c));
#ifdef HU_HAVE_CUDA
	if (s == &hu_gpu_side)
		HU_TRY(hu_gpu_probe(p->queue, p->i->kind, p->i->half, p->arch, p->d, p->a, p->b, p->c, tiles, steps));
#endif
#ifdef HU_HAVE_SHIM
	if (s == &hu_shim_side)
		HU_TRY(hu_shim_probe(p->queue, p->i->kind, p->i->half, p->arch, p->d, p->a, p->b, p->c, tiles, steps));
#endif
	HU_TRY(s->download(p->queue, d, p->d, tiles * HU_PROBE_C * sizeof *d));
	HU_TRY(s->wait(p->queue));
	return hu_bits32(d[0]) == HU_PROBE_NO_CODE
		       ? hu_fail(HU_EUNABLE,
				 "%s: this build has no code of it for the device (wgmma needs code=sm_90a)",
				 p->i->name)
		       : HU_OK;
}

hu_status
hu_probe_send(hu_probe_device *p, float *d, const uint32_t *a, const uint32_t *b, const float *c, size_t tiles)
{
	return send(p, d, a, b, c, tiles, 1);
}

/* Stores product k's operand of row or column r, as its code or fp32 word, among the words of a chain of
   instructions. */
static void
put(const hu_instruction *i, uint32_t *words, size_t rows, size_t r, size_t k, uint32_t code)
{
	size_t step = k / (size_t)i->k, in = k % (size_t)i->k;

	size_t each = hu_probe_each(i->in);

	words[(step * rows + r) * 8 + in / each] |= code << in % each * (32 / each);
}

size_t
hu_probe_each(hu_format_id f)
{
	return f == HU_TF32 ? 1 : 32 / (size_t)hu_format_of(f).bits;
}

static uint32_t
code_of(double x, hu_format_id f)
{
	return f == HU_TF32 ? hu_bits32((float)x) : (uint32_t)hu_encode(x, hu_format_of(f));
}

/* Computes a chain of sums in row 0 and column 0; every other operand and accumulator is 0. */
static double
device_dot(const hu_probe_unit *u, const double *x, const double *y, size_t n, double c0)
{
	hu_probe_device *p = u->of;
	unsigned steps = n ? (unsigned)((n + (size_t)p->i->k - 1) / (size_t)p->i->k) : 1;
	uint32_t *a = hu_xcalloc((size_t)steps * HU_PROBE_A, sizeof *a),
		 *b = hu_xcalloc((size_t)steps * HU_PROBE_B, sizeof *b);
	float c[HU_PROBE_C] = { (float)c0 }, d[HU_PROBE_C] = { 0 };

	for (size_t k = 0; k < n; k++) {
		put(p->i, a, 16, 0, k, code_of(x[k], p->i->in));
		put(p->i, b, 8, 0, k, code_of(y[k], p->i->in));
	}
	hu_status st = p->failed == HU_OK ? send(p, d, a, b, c, 1, steps) : p->failed;
	p->failed = st;
	free(a);
	free(b);
	return st == HU_OK ? (double)d[0] : 0;
}

static double
device_payload(const hu_probe_unit *u)
{
	hu_probe_device *p = u->of;
	uint32_t a[HU_PROBE_A] = { 0x7f800001u }, b[HU_PROBE_B] = { hu_bits32(1.0f) };
	float c[HU_PROBE_C] = { 0 }, d[HU_PROBE_C] = { 0 };

	if (p->failed == HU_OK)
		p->failed = send(p, d, a, b, c, 1, 1);
	return (double)d[0];
}

hu_probe_unit
hu_probe_unit_of(hu_probe_device *p, hu_sum s)
{
	return (hu_probe_unit){ .s = s, .most = p->i->k, .dot = device_dot, .payload = device_payload, .of = p };
}

hu_status
hu_probe_repeat(hu_probe_device *p, hu_sum s, int repeat, size_t *differ)
{
	uint32_t a[HU_PROBE_A], b[HU_PROBE_B], first = 0;
	float c[HU_PROBE_C], d[HU_PROBE_C];
	hu_format f = hu_format_of(p->i->in);

	*differ = 0;
	for (int r = 0; r < repeat; r++) {
		memset(a, 0, sizeof a);
		memset(b, 0, sizeof b);
		for (size_t k = 0; k < (size_t)p->i->k; k++) {
			double x = hu_round((double)((int)k % 7 - 3) * 1.37, f, HU_RNE, 0, 0),
			       y = hu_round(0.73 + (double)(k % 5) * 0.31, f, HU_RNE, 0, 0);
			for (size_t row = 0; row < 16; row++)
				put(p->i, a, 16, row, k, code_of(x, p->i->in));
			for (size_t column = 0; column < 8; column++)
				put(p->i, b, 8, column, k, code_of(y, p->i->in));
		}
		for (int i = 0; i < HU_PROBE_C; i++)
			c[i] = (float)hu_round(0.318, hu_format_of(s.out), HU_RNE, 0, 0);
		HU_TRY(send(p, d, a, b, c, 1, 1));
		first = r ? first : hu_bits32(d[0]);
		for (int i = 0; i < HU_PROBE_C; i++)
			*differ += hu_bits32(d[i]) != first;
	}
	return HU_OK;
}
