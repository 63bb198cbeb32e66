/* SPDX-License-Identifier: Apache-2.0
   safetensors: what is written reads back, the bytes are the format's, and
   every way a file can be wrong is told in one line. */
#include "lib/store/safetensors.h"

#include "lib/base/file.h"
#include "lib/base/mem.h"
#include "t/tool/tap.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static const float w[6] = { 1, -2, 0.5f, 0x1p-149f, 3, -0.0f };
static const uint16_t h[3] = { 0x3c00, 0x7e00, 0x8000 };
static const unsigned char q[5] = { 1, 2, 3, 4, 255 };
static const double loss = 0.1;

static void
write_sample(const char *path)
{
	hu_safetensors_writer s;

	hu_safetensors_begin(&s);
	ok(hu_safetensors_add(&s, "q", "F8_E4M3", 1, (size_t[]){ 5 }, q) == HU_OK, "add F8_E4M3");
	ok(hu_safetensors_add(&s, "conv1.y@fp16", "F16", 2, (size_t[]){ 3, 1 }, h) == HU_OK, "add F16");
	ok(hu_safetensors_add(&s, "w", "F32", 2, (size_t[]){ 2, 3 }, w) == HU_OK, "add F32");
	ok(hu_safetensors_add(&s, "none", "I8", 2, (size_t[]){ 0, 7 }, q) == HU_OK, "add an empty tensor");
	ok(hu_safetensors_add(&s, "loss", "F64", 0, NULL, &loss) == HU_OK, "add a scalar");
	ok(hu_safetensors_set(&s, "format", "pt") == HU_OK && hu_safetensors_set(&s, "version", "0") == HU_OK &&
			hu_safetensors_set(&s, "version", "1") == HU_OK,
		"metadata");
	is_int((long long)hu_safetensors_bytes(&s), 5 + 6 + 24 + 0 + 8, "bytes of data");
	ok(hu_safetensors_add(&s, "w", "F32", 0, NULL, w) == HU_EINVAL, "a name twice: %s", hu_reason());
	ok(hu_safetensors_add(&s, "__metadata__", "F32", 0, NULL, w) == HU_EINVAL, "the reserved name: %s",
		hu_reason());
	ok(hu_safetensors_add(&s, "\xff", "F32", 0, NULL, w) == HU_EINVAL, "a name that is not UTF-8: %s", hu_reason());
	ok(hu_safetensors_add(&s, "x", "TF32", 0, NULL, w) == HU_EINVAL, "an unknown dtype: %s", hu_reason());
	ok(hu_safetensors_add(&s, "x", "F32", 2, (size_t[]){ SIZE_MAX / 2, 3 }, w) == HU_EINVAL,
		"a size that overflows: %s", hu_reason());
	ok(hu_safetensors_add(&s, "x", "F4", 1, (size_t[]){ 3 }, w) == HU_EINVAL, "half a byte left over: %s",
		hu_reason());
	ok(hu_safetensors_set(&s, "k", "\xff") == HU_EINVAL, "metadata that is not UTF-8: %s", hu_reason());
	ok(hu_safetensors_commit(&s, path) == HU_OK, "commit");
}

static void
round_trip(void)
{
	char *path = hu_path(test_dir(), "a.safetensors"), *again = hu_path(test_dir(), "b.safetensors"), *bytes,
	     *other;
	size_t n, m;
	uint64_t len;
	hu_safetensors s;

	write_sample(path);
	if (!ok(hu_safetensors_open(&s, path) == HU_OK, "open: %s", hu_reason()))
		bail_out("nothing to look at");
	is_int((long long)s.n, 5, "tensors");
	const hu_stensor *t = hu_safetensors_find(&s, "w");
	ok(t && t->rank == 2 && t->shape[0] == 2 && t->shape[1] == 3 && t->bytes == 24 && t->count == 6 &&
			t->bits == 32,
		"w's shape");
	is_text(t->dtype, "F32", "w's dtype");
	ok(!memcmp(t->data, w, sizeof w) && (uintptr_t)t->data % 4 == 0, "w's bytes, aligned");
	t = hu_safetensors_find(&s, "conv1.y@fp16");
	ok(t && !memcmp(t->data, h, sizeof h), "fp16 codes");
	t = hu_safetensors_find(&s, "q");
	ok(t && !memcmp(t->data, q, sizeof q), "fp8 codes");
	t = hu_safetensors_find(&s, "loss");
	ok(t && t->rank == 0 && t->count == 1 && !memcmp(t->data, &loss, 8) && t == &s.tensor[0],
		"the scalar; the widest dtype is first");
	t = hu_safetensors_find(&s, "none");
	ok(t && t->count == 0 && t->data, "the empty tensor");
	ok(!hu_safetensors_find(&s, "W") && !hu_safetensors_find(&s, "__metadata__"), "names that are not there");
	is_text(hu_safetensors_metadata(&s, "version"), "1", "the last value of a key");
	is_text(hu_safetensors_metadata(&s, "seed"), NULL, "a key that is not there");
	hu_safetensors_release(&s);

	ok(hu_file_read(path, &bytes, &n) == HU_OK, "raw bytes");
	memcpy(&len, bytes, 8);
	ok(len % 8 == 0 && bytes[8] == '{' && n == 8 + len + 43, "header padded to 8, nothing after the data");
	write_sample(again);
	ok(hu_file_read(again, &other, &m) == HU_OK && m == n && !memcmp(bytes, other, n),
		"the same calls give the same bytes");

	size_t refused = 0;
	for (size_t cut = 0; cut < n; cut++) {
		char *p =
			memcpy(hu_xmalloc(cut + 1), bytes, cut); /* a block of its own, so that a read beyond is seen */
		p = hu_xrealloc(p, cut ? cut : 1);
		if (hu_safetensors_parse(&s, "cut", p, cut) == HU_EFILE && strstr(hu_reason(), "cut short"))
			refused++;
		free(p);
	}
	is_int((long long)refused, (long long)n, "a file cut anywhere is refused as cut short");
	free(bytes);
	free(other);
	free(path);
	free(again);
}

/* Parses a file made of HEADER and DATA bytes of zero. */
static hu_status
parse_text(hu_safetensors *s, const char *header, size_t data, char **keep)
{
	size_t len = strlen(header);
	uint64_t field = len;
	char *p = hu_xcalloc(8 + len + data, 1);

	memcpy(p, &field, 8);
	memcpy(p + 8, header, len);
	hu_status st = hu_safetensors_parse(s, "f", p, 8 + len + data);
	if (keep && st == HU_OK)
		*keep = p;
	else
		free(p);
	return st;
}

static void
refusals(void)
{
	static const struct { const char *header; size_t data; const char *says;
	} bad[] = {
		{ "[]", 0, "byte 8" },
		{ " {}", 0, "byte 8" },
		{ "{", 0, "byte" },
		{ "{}x", 0, "header" },
		{ "{}", 1, "1 bytes at byte 10 belong to no tensor" },
		{ "{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]},\"a\":{\"dtype\":\"F32\",\"shape\":["
		  "1],\"data_offsets\":[4,8]}}",
			8, "uplicate" },
		{ "{\"a\":3}", 0, "needs a dtype" },
		{ "{\"a\":{\"shape\":[1],\"data_offsets\":[0,4]}}", 4, "needs a dtype" },
		{ "{\"a\":{\"dtype\":\"F32\",\"shape\":1,\"data_offsets\":[0,4]}}", 4, "needs a dtype" },
		{ "{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4,8]}}", 4, "needs a dtype" },
		{ "{\"a\":{\"dtype\":\"F33\",\"shape\":[1],\"data_offsets\":[0,4]}}", 4, "unknown dtype 'F33'" },
		{ "{\"a\":{\"dtype\":\"F32\",\"shape\":[-1],\"data_offsets\":[0,4]}}", 4, "dimension 0" },
		{ "{\"a\":{\"dtype\":\"F32\",\"shape\":[1.0],\"data_offsets\":[0,4]}}", 4, "dimension 0" },
		{ "{\"a\":{\"dtype\":\"F32\",\"shape\":[1,1,1,1,1,1,1,1,1],\"data_offsets\":[0,4]}}", 4,
			"9 dimensions" },
		{ "{\"a\":{\"dtype\":\"F32\",\"shape\":[4294967296,4294967296],\"data_offsets\":[0,0]}}", 0,
			"possible number" },
		{ "{\"a\":{\"dtype\":\"F64\",\"shape\":[2305843009213693952],\"data_offsets\":[0,0]}}", 0,
			"possible number" },
		{ "{\"a\":{\"dtype\":\"F4\",\"shape\":[1],\"data_offsets\":[0,1]}}", 1, "possible number" },
		{ "{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,4]}}", 4, "span 4 bytes" },
		{ "{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,8]}}", 8, "span 8 bytes" },
		{ "{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[4,0]}}", 4, "not a range" },
		{ "{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[-4,0]}}", 4, "not a range" },
		{ "{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[4,8]}}", 8, "starts at byte 4" },
		{ "{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]},\"b\":{\"dtype\":\"F32\",\"shape\":["
		  "1],\"data_offsets\":[2,6]}}",
			8, "starts at byte 2" },
		{ "{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]},\"b\":{\"dtype\":\"F32\",\"shape\":["
		  "1],\"data_offsets\":[0,4]}}",
			8, "starts at byte 0" },
		{ "{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]}}", 3, "cut short" },
		{ "{\"a\":{\"dtype\":\"U8\",\"shape\":[9223372036854775807],\"data_offsets\":[0,9223372036854775807]}}",
			3, "possible number" },
		{ "{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,99999999999999999999]}}", 4, "too big" },
		{ "{\"__metadata__\":[]}", 0, "not an object" },
		{ "{\"__metadata__\":{\"a\":1}}", 0, "'a' is not a string" },
		{ "{\"a\\u0000\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]}}", 4, "header" },
	};
	hu_safetensors s;

	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		hu_status st = parse_text(&s, bad[i].header, bad[i].data, NULL);
		ok(st == HU_EFILE && strstr(hu_reason(), bad[i].says) && !strchr(hu_reason(), '\n'), "refused: %s",
			st == HU_OK ? bad[i].header : hu_reason());
	}
	unsigned char huge[16] = { 255, 255, 255, 255, 255, 255, 255, 255, '{', '}' };
	ok(hu_safetensors_parse(&s, "f", huge, sizeof huge) == HU_EFILE, "refused: %s", hu_reason());
	ok(hu_safetensors_open(&s, "/nonexistent") == HU_EFILE, "refused: %s", hu_reason());
	ok(hu_safetensors_open(&s, test_dir()) == HU_EFILE, "refused: %s", hu_reason());
	char *empty = hu_path(test_dir(), "empty");
	ok(hu_file_write(empty, "", 0) == HU_OK && hu_safetensors_open(&s, empty) == HU_EFILE, "refused: %s",
		hu_reason());
	free(empty);
}

static void
foreign(void)
{
	char *keep = NULL;
	hu_safetensors s;

	/* Headers of every length modulo 4, spaces behind them, an odd order, packed fp4: data at addresses that do not
	   fit its type. */
	for (int spaces = 0; spaces < 4; spaces++) {
		char *text = hu_xprintf("{\"b\":{\"data_offsets\":[1,9],\"shape\":[2],\"dtype\":\"F32\"},\"a\":{"
					"\"dtype\":\"F4\",\"shape\":[2,1],\"data_offsets\":[0,1]}}%*s",
			spaces, "");
		hu_status st = parse_text(&s, text, 9, &keep);
		free(text);
		if (!ok(st == HU_OK, "another writer's file"))
			continue;
		const hu_stensor *t = hu_safetensors_find(&s, "b");
		ok(t && (uintptr_t)t->data % 4 == 0 && ((const float *)t->data)[1] == 0,
			"an unaligned tensor is given aligned");
		is_text(s.tensor[0].name, "a", "tensors stand in the order of their bytes");
		hu_safetensors_release(&s);
		free(keep);
	}
	ok(parse_text(&s, "{}", 0, &keep) == HU_OK && s.n == 0 && !hu_safetensors_find(&s, "a"),
		"a file without tensors");
	hu_safetensors_release(&s);
	free(keep);
}

static void
failures_of_writing(void)
{
	char *path = hu_path(test_dir(), "no/such/dir"), *full = hu_path(test_dir(), "kept");
	hu_safetensors_writer s;

	hu_safetensors_begin(&s);
	ok(hu_safetensors_add(&s, "w", "F32", 1, (size_t[]){ 6 }, w) == HU_OK, "add");
	ok(hu_safetensors_commit(&s, path) == HU_EIO, "a folder that is not there: %s", hu_reason());
	hu_safetensors_begin(&s);
	ok(hu_safetensors_add(&s, "w", "F32", 1, (size_t[]){ 6 }, w) == HU_OK, "add");
	hu_safetensors_abandon(&s);
	ok(!hu_exists(full), "nothing is written by a writer that was abandoned");
	free(path);
	free(full);
}

int
main(void)
{
	round_trip();
	refusals();
	foreign();
	failures_of_writing();
	is_int(hu_safetensors_bits("BF16"), 16, "bits of BF16");
	is_int(hu_safetensors_bits("bf16"), 0, "dtype names have capitals");
	return done_testing();
}
