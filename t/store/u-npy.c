/* SPDX-License-Identifier: Apache-2.0
   .npy: hand-made files of every version, order and dtype, and what is refused. */
#include "lib/store/npy.h"

#include "lib/base/file.h"
#include "lib/base/mem.h"
#include "t/tool/tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A file of VERSION with HEADER (a newline is added) and DATA. */
static char *
make(int version, const char *header, const void *data, size_t n, size_t *len)
{
	size_t h = strlen(header) + 1, base = version == 1 ? 10 : 12;
	char *p = hu_xcalloc(base + h + n, 1);

	memcpy(p, "\x93NUMPY", 6);
	p[6] = (char)version;
	p[8] = (char)(h & 255);
	p[9] = (char)(h >> 8);
	memcpy(p + base, header, h - 1);
	p[base + h - 1] = '\n';
	if (n)
		memcpy(p + base + h, data, n);
	*len = base + h + n;
	return p;
}

static hu_status
parse(hu_npy *a, int version, const char *header, const void *data, size_t n)
{
	size_t len;
	char *p = make(version, header, data, n, &len);
	hu_status st = hu_npy_parse(a, "f.npy", p, len);

	free(p);
	return st;
}

static void
versions_and_orders(void)
{
	const float v[6] = { 1, 2, 3, 4, 5, 6 };
	hu_npy a;

	for (int version = 1; version <= 3; version++) {
		if (!ok(parse(&a, version, "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }", v,
				sizeof v) == HU_OK,
			    "version %d", version))
			continue;
		ok(a.rank == 2 && a.shape[0] == 2 && a.shape[1] == 3 && a.count == 6 && !strcmp(a.dtype, "f4") &&
				!memcmp(a.data, v, sizeof v),
			"its contents");
		hu_npy_release(&a);
	}
	/* Columns of 2 × 3: 1 2 | 3 4 | 5 6, so rows are 1 3 5 and 2 4 6. */
	ok(parse(&a, 1, "{\"shape\":(2,3),\"fortran_order\":True,\"descr\":\"<f4\"}", v, sizeof v) == HU_OK,
		"Fortran order, keys in another order");
	const float rows[6] = { 1, 3, 5, 2, 4, 6 };
	ok(!memcmp(a.data, rows, sizeof rows), "is transposed");
	hu_npy_release(&a);
	unsigned char cube[24], want[24];
	for (unsigned i = 0; i < 2; i++)
		for (unsigned j = 0; j < 3; j++)
			for (unsigned k = 0; k < 4; k++) {
				cube[i + 2 * (j + 3 * k)] = (unsigned char)(100 * i + 10 * j + k);
				want[(i * 3 + j) * 4 + k] = (unsigned char)(100 * i + 10 * j + k);
			}
	ok(parse(&a, 1, "{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3, 4), }", cube, 24) == HU_OK &&
			!memcmp(a.data, want, 24),
		"three dimensions too");
	hu_npy_release(&a);
	ok(parse(&a, 1, "{'descr': '<f8', 'fortran_order': False, 'shape': (), }", (double[]){ 0.1 }, 8) == HU_OK &&
			a.rank == 0 && a.count == 1 && hu_npy_real(&a, 0) == 0.1,
		"a scalar");
	hu_npy_release(&a);
	ok(parse(&a, 1, "{'descr': '<f8', 'fortran_order': True, 'shape': (0, 5), }", NULL, 0) == HU_OK &&
			a.count == 0 && a.data,
		"an empty array");
	hu_npy_release(&a);
}

static void
dtypes(void)
{
	static const struct { const char *descr; unsigned char bytes[8]; size_t n; double value;
	} rows[] = {
		{ "<f2", { 0x01, 0x3c }, 2, 0x1.004p0 },
		{ ">f2", { 0x3c, 0x01 }, 2, 0x1.004p0 },
		{ "<f2", { 0x01, 0x80 }, 2, -0x1p-24 },
		{ "<f4", { 0, 0, 0x40, 0xc0 }, 4, -3 },
		{ ">f4", { 0xc0, 0x40, 0, 0 }, 4, -3 },
		{ "<f8", { 0, 0, 0, 0, 0, 0, 8, 0x40 }, 8, 3 },
		{ ">f8", { 0x40, 8 }, 8, 3 },
		{ "|i1", { 0xff }, 1, -1 },
		{ "<i2", { 0xfe, 0xff }, 2, -2 },
		{ ">i2", { 0xff, 0xfe }, 2, -2 },
		{ "<i4", { 0, 0, 0, 0x80 }, 4, -2147483648.0 },
		{ "<i8", { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff }, 8, -1 },
		{ "|u1", { 0xff }, 1, 255 },
		{ "<u2", { 1, 2 }, 2, 513 },
		{ ">u4", { 1, 0, 0, 2 }, 4, 16777218 },
		{ "<u8", { 0, 0, 0, 0, 0, 0, 0, 0x80 }, 8, 0x1p63 },
		{ "|b1", { 1 }, 1, 1 },
		{ "=f4", { 0, 0, 0x80, 0x3f }, 4, 1 },
	};
	char header[128];
	hu_npy a;

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		snprintf(header, sizeof header, "{'descr': '%s', 'fortran_order': False, 'shape': (1,), }",
			rows[i].descr);
		if (!ok(parse(&a, 1, header, rows[i].bytes, rows[i].n) == HU_OK, "dtype %s", rows[i].descr))
			continue;
		is_bits64(bits_of_double(hu_npy_real(&a, 0)), bits_of_double(rows[i].value), "its value");
		hu_npy_release(&a);
	}
}

static void
refusals(void)
{
	static const struct { const char *header; size_t n; const char *says; } bad[] = {
		{ "", 4, "'{'" },
		{ "{}", 4, "without" },
		{ "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }", 3, "cut short" },
		{ "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }", 5, "1 bytes too many" },
		{ "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), } x", 4, "no end" },
		{ "{'descr': '<f4', 'fortran_order': 0, 'shape': (1,), }", 4, "True or False" },
		{ "{'descr': '<f4', 'fortran_order': False, 'shape': 1, }", 4, "parentheses" },
		{ "{'descr': '<f4', 'fortran_order': False, 'shape': (-1,), }", 4, "dimension" },
		{ "{'descr': '<f4', 'fortran_order': False, 'shape': (1 1), }", 4, "comma" },
		{ "{'descr': '<f4', 'fortran_order': False, 'shape': (1,1,1,1,1,1,1,1,1), }", 4, "more than 8" },
		{ "{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296), }", 4, "more elements" },
		{ "{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387905,), }", 4, "cut short" },
		{ "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,), }", 4, "beyond" },
		{ "{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (1,), }", 4, "twice" },
		{ "{'descr': '<f4', 'more': 1, 'fortran_order': False, 'shape': (1,), }", 4, "unknown" },
		{ "{'descr': '|O', 'fortran_order': False, 'shape': (1,), }", 4, "'|O'" },
		{ "{'descr': '<V2', 'fortran_order': False, 'shape': (2,), }", 4, "'<V2'" },
		{ "{'descr': '<c8', 'fortran_order': False, 'shape': (1,), }", 8, "'<c8'" },
		{ "{'descr': [('x', '<f4')], 'fortran_order': False, 'shape': (1,), }", 4, "structured" },
		{ "{'descr': '<f4", 4, "plain short text" },
		{ "{'descr': '<f4', 'fortran_order': False, 'shape': (", 4, "dimension" },
	};
	const char zeros[16] = { 0 };
	hu_npy a;

	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		hu_status st = parse(&a, 1, bad[i].header, zeros, bad[i].n);
		ok(st == HU_EFILE && strstr(hu_reason(), bad[i].says), "refused: %s",
			st == HU_OK ? bad[i].header : hu_reason());
	}
	ok(parse(&a, 4, "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }", zeros, 4) == HU_EFILE,
		"refused: %s", hu_reason());
	ok(hu_npy_parse(&a, "f.npy", "PK\3\4            ", 16) == HU_EFILE, "refused: %s", hu_reason());
	size_t len, refused = 0;
	char *p = make(2, "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }", zeros, 8, &len);
	for (size_t cut = 0; cut < len; cut++) {
		char *q = memcpy(hu_xmalloc(cut ? cut : 1), p, cut);
		refused += hu_npy_parse(&a, "f.npy", q, cut) == HU_EFILE && strstr(hu_reason(), "cut short");
		free(q);
	}
	free(p);
	is_int((long long)refused, (long long)len, "a file cut anywhere is refused as cut short");
}

static void
writing(void)
{
	const double v[6] = { 0.1, -0.0, 3, 4, 5, 6 };
	const float f[2] = { 1, 0x1p-149f };
	char *path = hu_path(test_dir(), "a.npy"), *bytes;
	size_t n;
	hu_npy a;

	ok(hu_npy_write(path, "f8", 2, (size_t[]){ 2, 3 }, v) == HU_OK, "write f8");
	ok(hu_npy_read(&a, path) == HU_OK && a.rank == 2 && a.shape[0] == 2 && a.shape[1] == 3 &&
			!memcmp(a.data, v, sizeof v),
		"and read");
	hu_npy_release(&a);
	ok(hu_file_read(path, &bytes, &n) == HU_OK, "raw bytes");
	/* What NumPy's documentation shows for such an array: header and padding end at 128 with a newline. */
	ok(n == 128 + 48 && bytes[127] == '\n' &&
			!memcmp(bytes + 10, "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), }  ", 61),
		"data start at a multiple of 64");
	free(bytes);
	ok(hu_npy_write(path, "f4", 1, (size_t[]){ 2 }, f) == HU_OK && hu_file_read(path, &bytes, &n) == HU_OK &&
			strstr(bytes + 10, "'shape': (2,), }"),
		"one dimension keeps its comma");
	free(bytes);
	ok(hu_npy_read(&a, path) == HU_OK && !memcmp(a.data, f, sizeof f), "and reads back");
	hu_npy_release(&a);
	ok(hu_npy_write(path, "f4", 0, NULL, f) == HU_OK && hu_npy_read(&a, path) == HU_OK && a.rank == 0 &&
			a.count == 1,
		"a scalar");
	hu_npy_release(&a);
	ok(hu_npy_write("/nonexistent/a.npy", "f4", 0, NULL, f) == HU_EIO, "a folder that is not there: %s",
		hu_reason());
	free(path);
}

int
main(void)
{
	versions_and_orders();
	dtypes();
	refusals();
	writing();
	return done_testing();
}
