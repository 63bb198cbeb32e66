/* SPDX-License-Identifier: Apache-2.0 */
#include "cuda/device/roofline.h"

#include "cuda/device/capability.h"
#include "lib/base/console/opt.h"
#include "lib/base/str.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

static const hu_peaks devices[] = {
#define DEVICE(id, name, capability, gib, gb_s, fp64, fp32, tf32, fp16, bf16, fp8, int8, align, source)                \
	{ #id, name, capability, gib, gb_s, fp64, fp32, tf32, fp16, bf16, fp8, int8, HU_LAUNCH_US, align, source,      \
		{ { 0, 0 } } },
#include "cuda/device/devices.def"
#undef DEVICE
};
enum { DEVICES = sizeof devices / sizeof *devices };

const hu_peaks *
hu_peaks_at(int i)
{
	return i >= 0 && i < DEVICES ? &devices[i] : NULL;
}

/* Returns how many letters and digits id's words have, if all these words occur in `name`, whatever is between them; 0
   where one does not. A word that is a memory size does not count. */
static size_t
named(const char *id, const char *name)
{
	size_t found = 0;

	for (const char *s = id; *s; s += strcspn(s, "_"), s += *s == '_') {
		size_t n = strcspn(s, "_");
		const char *at = name;
		if (strspn(s, "0123456789") == n && n < 3)
			continue;
		while (*at && strncasecmp(at, s, n))
			at++;
		if (!*at)
			return 0;
		found += n;
	}
	return found;
}

const hu_peaks *
hu_peaks_of_name(const char *name, double bytes)
{
	const hu_peaks *best = NULL;
	size_t most = 0;

	for (int i = 0; i < DEVICES; i++) {
		size_t n = named(devices[i].id, name);
		if (n && (n > most || (n == most && fabs(devices[i].gib * 0x1p30 - bytes) <
							    fabs(best->gib * 0x1p30 - bytes)))) {
			best = &devices[i];
			most = n;
		}
	}
	return best;
}

const char *
hu_limit_name(int limit)
{
	static const char *const names[] = { "arithmetic", "memory", "launch" };

	return names[limit];
}

double
hu_peaks_rate(const hu_peaks *d, hu_format_id f)
{
	double t = 0;

	switch (f) {
	case HU_FP64: t = d->fp64; break;
	case HU_TF32: t = d->tf32; break;
	case HU_FP16: t = d->fp16; break;
	case HU_BF16: t = d->bf16; break;
	case HU_E4M3:
	case HU_E5M2: t = d->fp8 > 0 ? d->fp8 : d->fp16; break;
	default: break; /* Others have no units of their own: they are computed as float32. */
	}
	return 1e12 * (t > 0 ? t : d->fp32);
}

double
hu_peaks_bandwidth(const hu_peaks *d, double bytes)
{
	double gb_s = d->near[0].bytes > 0 ? d->near[0].gb_s : d->gb_s;

	for (int i = 0; i < HU_NEAR && d->near[i].bytes > 0 && 2 * d->near[i].bytes <= bytes; i++)
		gb_s = d->near[i].gb_s;
	return 1e9 * gb_s;
}

/* Returns how many elements of t lie side by side in one row: those of its last dimension; but for an operand of a
   matrix product, whose rows are the first dimension after the batch, all elements of the dimensions after that. */
static size_t
row_of(const hu_call *c, const hu_info *t)
{
	size_t row = 1;

	if (!hu_op_takes(c->op, "batch"))
		return hu_last(t->shape);
	for (int d = (int)hu_attr_count(c, "batch", 0) + 1; d < t->shape.rank; d++)
		row *= t->shape.d[d];
	return row;
}

/* Returns 1 where every operand's rows are a multiple of align bytes, as matrix units and 16-byte loads need (NVIDIA,
   Deep learning performance guide: multiples of 8 in fp16, of 16 in 8 bits). Many models have ten class scores; since
   that product is small it costs little. */
static int
fits(const hu_program *p, const hu_call *c, int align, char *odd, size_t size)
{
	for (int i = 0; i < 2 + c->nout && i < c->nin + c->nout; i++) {
		const hu_info *t = &p->t[i < 2 ? c->in[i] : c->out[i - 2]];
		size_t last = row_of(c, t), each = (size_t)(hu_format_of(c->fmt.in).bits + 7) / 8;
		if (last * each % (size_t)align) {
			snprintf(odd, size, "%.24s: last extent %zu", t->name, last);
			return 0;
		}
	}
	return 1;
}

hu_roof
hu_roofline(const hu_peaks *d, const hu_program *p, const hu_call *c)
{
	hu_cost k = hu_call_cost(p, c);
	hu_roof r = { .odd = "" };
	double rate = 1e12 * d->fp32;

	if (c->op->cls == HU_CLASS_GEMM) {
		rate = hu_peaks_rate(d, c->fmt.in);
		int matrix = hu_capability_of(d->capability)->fp16 && c->fmt.in != HU_FP64 && rate > 1e12 * d->fp32;
		if (matrix && !fits(p, c, 16, r.odd, sizeof r.odd) && d->align)
			rate = 1e12 * d->fp32;
	} else if (c->fmt.compute == HU_FP64)
		rate = 1e12 * d->fp64;
	r.arithmetic = k.flops / rate;
	r.memory = (k.bytes_in + k.bytes_out) / hu_peaks_bandwidth(d, k.bytes_in + k.bytes_out);
	r.launch = 1e-6 * d->launch_us;
	r.total = fmax(fmax(r.arithmetic, r.memory), r.launch);
	r.limit = r.total == r.launch ? HU_LIMIT_LAUNCH : r.total == r.memory ? HU_LIMIT_MEMORY : HU_LIMIT_ARITHMETIC;
	return r;
}

/* A device's name as it is compared: letters and digits alone, small, without a maker's or a family's name before it,
   so that "RTX 4090", "4090" and "NVIDIA GeForce RTX 4090" are rtx_4090. TO has room for SIZE characters. */
static void
plain_name(char *to, size_t size, const char *name)
{
	static const char *const families[] = { "nvidia", "tesla", "geforce", "rtx" };
	size_t n = 0;

	for (; *name && n + 1 < size; name++)
		if (isalnum((unsigned char)*name))
			to[n++] = (char)tolower((unsigned char)*name);
	to[n] = 0;
	for (size_t i = 0; i < sizeof families / sizeof *families; i++) {
		size_t k = strlen(families[i]);
		if (!strncmp(to, families[i], k) && to[k])
			memmove(to, to + k, n + 1 - k), n -= k;
	}
}

int
hu_roofline_here(const char *id)
{
	return !strcasecmp(id, "here") || !strcasecmp(id, "cpu");
}

hu_status
hu_peaks_find(const char *id, hu_peaks *out)
{
	char asked[64], known[64];
	hu_str list;

	plain_name(asked, sizeof asked, id);
	for (int i = 0; i < DEVICES; i++) {
		plain_name(known, sizeof known, devices[i].id);
		if (!strcmp(known, asked)) {
			*out = devices[i];
			return HU_OK;
		}
	}
	hu_str_init(&list);
	hu_str_add(&list, "here");
	for (int i = 0; i < DEVICES; i++)
		hu_str_addf(&list, ", %s", devices[i].id);
	hu_status st = hu_fail(HU_EINVAL, "device '%s': known are %s", id, list.s);
	hu_str_release(&list);
	return st;
}
