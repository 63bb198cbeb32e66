/* SPDX-License-Identifier: Apache-2.0
   lib/store/run: tensors of every format come back from a trace as they went in, and a
   checkpoint carries the state alone. */
#include "lib/base/file.h"
#include "lib/base/mem.h"
#include "lib/number/round.h"
#include "lib/store/run_check.h"
#include "t/tool/tap.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

enum { N = 12 };

/* One tensor a format, a relu of each, so that the program is one. */
static hu_program *
program(void)
{
	hu_program *p = hu_program_new("train");

	for (int f = 0; f < HU_FORMATS; f++) {
		char name[64];
		snprintf(name, sizeof name, "l%d.x", f);
		int in = hu_program_tensor(p, name, (hu_format_id)f, hu_shape2(3, 4), HU_ACTIVATION);
		p->t[in].state = f % 2;
		snprintf(name, sizeof name, "l%d.y", f);
		int out = hu_program_tensor(p, name, (hu_format_id)f, hu_shape2(3, 4), HU_ACTIVATION), layer = in;
		hu_program_call(p, "relu", HU_FORWARD, "l", &layer, 1, &out, 1);
	}
	return p;
}

static hu_tensor *
tensors(const hu_program *p, int fill)
{
	hu_tensor *t = hu_xcalloc((size_t)p->nt, sizeof *t);

	for (int i = 0; i < p->nt; i++) {
		hu_format f = hu_format_of(p->t[i].format);
		t[i] = (hu_tensor){
			.format = f.id, .shape = p->t[i].shape, .n = N, .data = hu_alloc(N * sizeof(double))
		};
		for (size_t k = 0; fill && k < N; k++) {
			const double x[N] = { 0, -0.0, hu_smallest(f), -hu_smallest_normal(f), f.max, 1, -1.0 / 3,
				3.14159265358979, hu_has_inf(f) ? INFINITY : 2, NAN, 1 + 2 * hu_unit(f), -f.max };
			hu_put(&t[i], k, hu_round(x[k], f, HU_RNE, 0, 0));
		}
	}
	return t;
}

static void
release(const hu_program *p, hu_tensor *t)
{
	for (int i = 0; i < p->nt; i++)
		free(t[i].data);
	free(t);
}

static int
same(const hu_tensor *a, const hu_tensor *b)
{
	for (size_t k = 0; k < a->n; k++)
		if (hu_bits64(hu_get(a, k)) != hu_bits64(hu_get(b, k)))
			return 0;
	return 1;
}

static void
test_trace(const char *dir, hu_program *p)
{
	hu_tensor *t = tensors(p, 1), *back = NULL;
	json_t *m = json_pack("{s:i s:{}}", "run_version", HU_RUN_VERSION, "files");
	char select[64] = { 0 };
	hu_run r;

	for (int i = 0; i < p->nt; i++)
		select[i] = i != 3;
	ok(hu_run_create(dir, 0) == HU_OK && hu_run_write_program(dir, p) == HU_OK &&
			hu_run_write_trace(dir, 7, p, t, select) == HU_OK &&
			hu_run_write_trace(dir, 12345678, p, t, select) == HU_OK,
		"a run with two traced steps is written");
	ok(hu_run_create(dir, 0) == HU_OK, "without a manifest it never began, and may begin anew");
	ok(hu_run_add_file(dir, "trace/step-000007.safetensors", json_object_get(m, "files")) == HU_OK &&
			hu_run_write_json(dir, "manifest.json", m) == HU_OK,
		"with a manifest");
	ok(hu_run_create(dir, 0) == HU_EINVAL && hu_run_create(dir, 1) == HU_OK, "its folder is not made twice");
	if (hu_run_open(&r, dir))
		bail_out("%s", hu_reason());
	ok(r.nstep == 2 && r.step[0] == 7 && r.step[1] == 12345678 && r.train->nt == p->nt && !r.eval, "and opened");
	if (hu_run_load_trace(&r, 7, &back))
		bail_out("%s", hu_reason());
	for (int i = 0; i < p->nt; i++)
		if (i == 3)
			ok(!back[i].data, "a tensor that was not selected is not there");
		else
			ok(back[i].data && same(&t[i], &back[i]), "%s comes back bit for bit",
				hu_format_name(t[i].format));
	hu_run_free_trace(&r, back);
	hu_run_release(&r);
	json_decref(m);
	release(p, t);
}

static void
test_dtypes(const char *dir)
{
	char *path = hu_path(dir, "trace/step-000007.safetensors");
	hu_safetensors s;
	hu_format_id as;
	char key[32];

	is_text(hu_run_dtype(HU_E4M3, &as), "F8_E4M3", "e4m3 in its own dtype");
	is_text(hu_run_dtype(HU_BF16, &as), "BF16", "bf16 too");
	is_text(hu_run_dtype(HU_TF32, &as), "F32", "tf32 in F32");
	if (hu_safetensors_open(&s, path))
		bail_out("%s", hu_reason());
	snprintf(key, sizeof key, "format:l%d.x", HU_TF32);
	is_text(hu_safetensors_metadata(&s, key), "tf32", "and its name in __metadata__");
	hu_safetensors_release(&s);
	free(path);
}

/* The checksums of the header and of each tensor, by where their bytes lie. */
static void
test_sums(const char *dir)
{
	char *path = hu_path(dir, "trace/step-000007.safetensors"), *bytes, hex[17];
	json_t *files = json_object(), *entry;
	hu_safetensors s;
	uint64_t len;
	size_t n;
	int good = 0;

	hu_run_check_sum("", 0, hex);
	is_text(hex, "2d06800538d394c2", "XXH3 of nothing");
	if (hu_file_read(path, &bytes, &n) || hu_safetensors_open(&s, path) ||
		hu_run_add_file(dir, "trace/step-000007.safetensors", files))
		bail_out("%s", hu_reason());
	for (size_t i = 0; i < s.n; i++) {
		char *key = hu_xprintf("xxh3:%s", s.tensor[i].name);
		const char *said = hu_safetensors_metadata(&s, key);
		snprintf(hex, sizeof hex, "%016llx",
			(unsigned long long)XXH3_64bits(bytes + s.tensor[i].offset, s.tensor[i].bytes));
		good += said && !strcmp(said, hex);
		free(key);
	}
	ok(good == (int)s.n && good > 20, "the header has the checksum of each of %d tensors", good);
	memcpy(&len, bytes, 8);
	snprintf(hex, sizeof hex, "%016llx", (unsigned long long)XXH3_64bits(bytes, (size_t)len + 8));
	entry = json_object_get(files, "trace/step-000007.safetensors");
	is_text(json_string_value(json_object_get(entry, "header")), hex, "the manifest has that of the header");
	snprintf(hex, sizeof hex, "%016llx", (unsigned long long)XXH3_64bits(bytes, n));
	is_text(json_string_value(json_object_get(entry, "xxh3")), hex, "and that of the file");
	hu_safetensors_release(&s);
	json_decref(files);
	free(bytes);
	free(path);
}

static void
test_checkpoint(const char *dir, hu_program *p)
{
	hu_tensor *t = tensors(p, 1), *to = tensors(p, 0);
	json_t *meta = json_pack("{s:i}", "step", 40), *back = NULL;
	int good = 1;

	ok(hu_run_load_checkpoint(dir, -1, p, to, &back) == HU_EFILE, "no checkpoint yet");
	ok(hu_run_write_checkpoint(dir, 9, p, t, meta) == HU_OK &&
			hu_run_write_checkpoint(dir, 40, p, t, meta) == HU_OK &&
			hu_run_load_checkpoint(dir, -1, p, to, &back) == HU_OK && json_equal(meta, back),
		"the newest checkpoint is read, with its metadata");
	for (int i = 0; i < p->nt; i++)
		good &= same(p->t[i].state ? &t[i] : &to[i], &to[i]);
	ok(good, "its state is what was written");
	for (int i = 0; i < p->nt; i++)
		good &= p->t[i].state || hu_get(&to[i], 4) == 0;
	ok(good, "and nothing but state is in it");
	json_decref(meta);
	json_decref(back);
	release(p, t);
	release(p, to);
}

int
main(void)
{
	hu_program *p = program();
	char *dir = hu_path(test_dir(), "run");

	test_trace(dir, p);
	test_dtypes(dir);
	test_sums(dir);
	test_checkpoint(dir, p);
	free(dir);
	hu_program_free(p);
	return done_testing();
}
