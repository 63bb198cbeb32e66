/* SPDX-License-Identifier: Apache-2.0
   .npy files. The header is a Python dict literal with three known keys; only this subset of Python's syntax is
   read. */
#include "lib/store/npy.h"

#include "lib/base/file.h"
#include "lib/base/mem.h"
#include "lib/base/str.h"
#include "lib/number/code.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "arrays are kept little endian");

#define FOR_DTYPES(X)                                                                                                  \
	X(i1, int8_t)                                                                                                  \
	X(i2, int16_t)                                                                                                 \
	X(i4, int32_t) X(i8, int64_t) X(u1, uint8_t) X(u2, uint16_t) X(u4, uint32_t) X(u8, uint64_t) X(b1, uint8_t)    \
		X(f4, float) X(f8, double)

/* The header's text and the reading position. */
typedef struct cursor {
	const char *name, *text;
	size_t at, len, base;
} cursor;

static void
blanks(cursor *c)
{
	while (c->at < c->len && strchr(" \t\r\n", c->text[c->at]) && c->text[c->at])
		c->at++;
}

static int
accept(cursor *c, char want)
{
	blanks(c);
	if (c->at >= c->len || c->text[c->at] != want)
		return 0;
	c->at++;
	return 1;
}

static hu_status
expected(const cursor *c, const char *what)
{
	return hu_fail(HU_EFILE,
		"%s: byte %zu: the header has no %s where one is needed; not a plain numeric .npy file", c->name,
		c->base + c->at, what);
}

/* Reads a quoted string without escapes into out, which has room for room bytes including the final zero. */
static hu_status
quoted(cursor *c, char *out, size_t room)
{
	size_t n = 0;

	blanks(c);
	char q = c->at < c->len ? c->text[c->at] : 0;
	if (q != '\'' && q != '"')
		return expected(c, "quoted text");
	for (c->at++; c->at < c->len && c->text[c->at] != q; c->at++) {
		if (n + 1 == room || c->text[c->at] < ' ' || c->text[c->at] > '~' || c->text[c->at] == '\\')
			return expected(c, "plain short text");
		out[n++] = c->text[c->at];
	}
	out[n] = 0;
	return accept(c, q) ? HU_OK : expected(c, "closing quote");
}

static hu_status
word(cursor *c, int *value)
{
	blanks(c);
	for (int v = 0; v < 2; v++) {
		const char *w = v ? "True" : "False";
		size_t n = strlen(w);
		if (c->len - c->at >= n && !memcmp(c->text + c->at, w, n)) {
			c->at += n;
			*value = v;
			return HU_OK;
		}
	}
	return expected(c, "True or False");
}

static hu_status
tuple(cursor *c, hu_npy *a)
{
	if (!accept(c, '('))
		return expected(c, "shape in parentheses");
	while (!accept(c, ')')) {
		size_t d = 0, digits = 0;
		blanks(c);
		for (; c->at < c->len && c->text[c->at] >= '0' && c->text[c->at] <= '9'; c->at++, digits++)
			if (__builtin_mul_overflow(d, (size_t)10, &d) ||
				__builtin_add_overflow(d, (size_t)(c->text[c->at] - '0'), &d))
				return hu_fail(HU_EFILE,
					"%s: byte %zu: a dimension beyond what fits an address",
					c->name, c->base + c->at);
		if (!digits)
			return expected(c, "dimension");
		if (a->rank == HU_NPY_RANK)
			return hu_fail(HU_EFILE,
				"%s: byte %zu: there are more than %d dimensions", c->name, c->base + c->at,
				HU_NPY_RANK);
		a->shape[a->rank++] = d;
		if (accept(c, ','))
			continue;
		if (accept(c, ')'))
			break;
		return expected(c, "comma");
	}
	return HU_OK;
}

static hu_status
dtype(cursor *c, hu_npy *a, int *swap)
{
	static const char *const known[] = { "f2", "f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "b1" };
	char d[64];

	blanks(c);
	if (c->at < c->len && c->text[c->at] == '[')
		return hu_fail(HU_EFILE,
			"%s: byte %zu: the array is structured; only plain numbers can be read", c->name,
			c->base + c->at);
	HU_TRY(quoted(c, d, sizeof d));
	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (d[0] && strchr("<>|=", d[0]) && !strcmp(d + 1, known[i])) {
			strcpy(a->dtype, known[i]);
			a->width = (size_t)(known[i][1] - '0');
			*swap = d[0] == '>' && a->width > 1;
			return HU_OK;
		}
	return hu_fail(HU_EFILE,
		"%s: header: dtype '%s' is not one of f2 f4 f8 i1 i2 i4 i8 u1 u2 u4 u8 b1; convert it, for example "
		"with .astype('float32')",
		c->name, d);
}

static hu_status
header(cursor *c, hu_npy *a, int *fortran, int *swap)
{
	enum { DESCR = 1, ORDER = 2, SHAPE = 4 };
	int seen = 0;
	char key[32];

	if (!accept(c, '{'))
		return expected(c, "'{'");
	while (!accept(c, '}')) {
		size_t at = c->at;
		HU_TRY(quoted(c, key, sizeof key));
		int bit = !strcmp(key, "descr")           ? DESCR
			  : !strcmp(key, "fortran_order") ? ORDER
			  : !strcmp(key, "shape")         ? SHAPE
							  : 0;
		if (!bit || seen & bit)
			return hu_fail(HU_EFILE,
				"%s: byte %zu: the header's key '%s' is unknown or occurs twice", c->name,
				c->base + at, key);
		seen |= bit;
		if (!accept(c, ':'))
			return expected(c, "':'");
		HU_TRY(bit == DESCR ? dtype(c, a, swap) : bit == ORDER ? word(c, fortran) : tuple(c, a));
		if (accept(c, ','))
			continue;
		if (accept(c, '}'))
			break;
		return expected(c, "comma");
	}
	blanks(c);
	if (c->at != c->len)
		return expected(c, "end");
	if (seen != (DESCR | ORDER | SHAPE))
		return hu_fail(HU_EFILE, "%s: header without descr, fortran_order or shape", c->name);
	return HU_OK;
}

static void
swap_bytes(unsigned char *p, size_t count, size_t width)
{
	for (size_t i = 0; i < count; i++, p += width)
		for (size_t j = 0; j < width / 2; j++) {
			unsigned char t = p[j];
			p[j] = p[width - 1 - j];
			p[width - 1 - j] = t;
		}
}

/* Reorders column-major src into row-major dst, walking src in order, whose first index varies fastest. */
static void
from_fortran(unsigned char *dst, const unsigned char *src, const hu_npy *a)
{
	size_t at[HU_NPY_RANK] = { 0 }, stride[HU_NPY_RANK], step = 1, to = 0;

	for (int d = a->rank - 1; d >= 0; d--) {
		stride[d] = step;
		step *= a->shape[d];
	}
	for (size_t i = 0; i < a->count; i++) {
		memcpy(dst + to * a->width, src + i * a->width, a->width);
		for (int d = 0; d < a->rank; d++) {
			to += stride[d];
			if (++at[d] < a->shape[d])
				break;
			to -= stride[d] * at[d];
			at[d] = 0;
		}
	}
}

static hu_status
preamble(cursor *c, const char *name, const unsigned char *p, size_t n, size_t *start)
{
	if (n < 10 || memcmp(p, "\x93NUMPY", 6))
		return hu_fail(HU_EFILE, "%s: byte 0: this is no .npy file, as numpy.save writes, nor an .npz%s", name,
			n < 10 ? ": was it cut short?" : "");
	if (p[6] < 1 || p[6] > 3)
		return hu_fail(HU_EFILE, "%s: byte 6: .npy version %d; versions 1 to 3 can be read", name, p[6]);
	size_t base = p[6] == 1 ? 10 : 12, len = p[8] | (size_t)p[9] << 8;
	if (p[6] > 1) {
		if (n < 12)
			return hu_fail(HU_EFILE, "%s: the file is cut short after %zu bytes", name, n);
		len |= (size_t)p[10] << 16 | (size_t)p[11] << 24;
	}
	if (len > n - base)
		return hu_fail(
			HU_EFILE,
			"%s: the file is cut short: the header ends at byte %zu, the file at %zu", name, base + len, n);
	*c = (cursor){ name, (const char *)p + base, 0, len, base };
	*start = base + len;
	return HU_OK;
}

/* Reads the header of a file of all bytes, of which the first n are at bytes. */
static hu_status
head(hu_npy *a, const char *name, const void *bytes, size_t n, size_t all, size_t *start, int *fortran, int *swap)
{
	size_t size;
	cursor c = { 0 };

	memset(a, 0, sizeof *a);
	*fortran = *swap = 0;
	HU_TRY(preamble(&c, name, bytes, n, start));
	HU_TRY(header(&c, a, fortran, swap));
	a->count = 1;
	for (int d = 0; d < a->rank; d++)
		if (__builtin_mul_overflow(a->count, a->shape[d], &a->count))
			return hu_fail(
				HU_EFILE, "%s: header: the shape has more elements than an address can count", name);
	if (__builtin_mul_overflow(a->count, a->width, &size) || size > all - *start)
		return hu_fail(HU_EFILE,
			"%s: the file is cut short: %zu elements of %zu bytes are announced, %zu bytes follow byte %zu",
			name, a->count, a->width, all - *start, *start);
	if (size < all - *start)
		return hu_fail(HU_EFILE, "%s: %zu bytes too many at byte %zu; one array a file can be read", name,
			all - *start - size, *start + size);
	return HU_OK;
}

hu_status
hu_npy_head(hu_npy *a, const char *name, const void *bytes, size_t n, size_t all, size_t *start, int *plain)
{
	int fortran, swap;

	HU_TRY(head(a, name, bytes, n, all, start, &fortran, &swap));
	*plain = !swap && !(fortran && a->rank > 1);
	return HU_OK;
}

hu_status
hu_npy_parse(hu_npy *a, const char *name, const void *bytes, size_t n)
{
	const unsigned char *p = bytes;
	int fortran, swap;
	size_t start, size;

	HU_TRY(head(a, name, bytes, n, n, &start, &fortran, &swap));
	size = a->count * a->width;
	a->data = hu_alloc(size);
	if (!a->data)
		return hu_fail(HU_ENOMEM, "%s: no memory for %zu bytes", name, size);
	if (fortran && a->rank > 1)
		from_fortran(a->data, p + start, a);
	else
		memcpy(a->data, p + start, size);
	if (swap)
		swap_bytes(a->data, a->count, a->width);
	return HU_OK;
}

hu_status
hu_npy_read(hu_npy *a, const char *path)
{
	char *data;
	size_t n;

	HU_TRY(hu_file_read(path, &data, &n));
	hu_status st = hu_npy_parse(a, path, data, n);
	free(data);
	return st;
}

hu_status
hu_npy_map(hu_npy *a, const char *path)
{
	void *bytes;
	size_t n, start;
	int plain;

	HU_TRY(hu_file_map(path, &bytes, &n));
	hu_status st = hu_npy_head(a, path, bytes, n, n, &start, &plain);
	if (st == HU_OK && plain && start % a->width == 0) {
		a->data = (char *)bytes + start;
		a->map = bytes;
		a->mapped = n;
		return HU_OK;
	}
	if (st == HU_OK)
		st = hu_npy_parse(a, path, bytes, n);
	hu_file_unmap(bytes, n);
	return st;
}

void
hu_npy_release(hu_npy *a)
{
	if (a->map)
		hu_file_unmap(a->map, a->mapped);
	else
		free(a->data);
	memset(a, 0, sizeof *a);
}

double
hu_npy_real(const hu_npy *a, size_t i)
{
	HU_ASSERT(i < a->count);
	if (!strcmp(a->dtype, "f2"))
		return hu_decode(((const uint16_t *)a->data)[i], hu_format_of(HU_FP16));
#define READ(name, type)                                                                                               \
	if (!strcmp(a->dtype, #name))                                                                                  \
		return (double)((const type *)a->data)[i];
	FOR_DTYPES(READ)
#undef READ
	hu_bug(__FILE__, __LINE__, "dtype %s", a->dtype);
}

void
hu_npy_reals(const hu_npy *a, size_t i, size_t n, double *x)
{
	HU_ASSERT(i <= a->count && n <= a->count - i);
	if (!strcmp(a->dtype, "f2")) {
		hu_format f = hu_format_of(HU_FP16);
		for (size_t k = 0; k < n; k++)
			x[k] = hu_decode(((const uint16_t *)a->data)[i + k], f);
		return;
	}
#define READ(name, type)                                                                                               \
	if (!strcmp(a->dtype, #name)) {                                                                                \
		for (size_t k = 0; k < n; k++)                                                                         \
			x[k] = (double)((const type *)a->data)[i + k];                                                 \
		return;                                                                                                \
	}
	FOR_DTYPES(READ)
#undef READ
	hu_bug(__FILE__, __LINE__, "dtype %s", a->dtype);
}
