/* SPDX-License-Identifier: Apache-2.0
   Any bytes as the trace, or as the manifest, of a run that one of several processes opens. A damaged trace is refused
   in one line, at the latest where its tensors are needed, and by who reads all of the run too; of one whose header the
   manifest has again the checksum of, only tensors with the checksum that stands there are read. Links libhalfulp.a. */
#include "t/fuzz/fuzz.h"

#include "lib/base/file.h"
#include "lib/base/mem.h"
#include "lib/store/run_check.h"
#include "lib/store/run_trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

enum { STEP = 7, N = 12 };

static char folder[4096];
static const char trace[] = "trace/step-000007.safetensors";
static json_t *manifest;
static char *whole;        /* the trace as it was written */
static size_t whole_bytes;

static void
forget(void)
{
	json_decref(manifest);
	free(whole);
	hu_remove_all(folder);
}

static void
put(const char *name, const void *bytes, size_t n)
{
	char *path = hu_path(folder, "%s", name);

	remove(path); /* a file that is cut short and written again waits for the disk */
	FILE *f = fopen(path, "wb");
	HU_ASSERT(f && fwrite(bytes, 1, n, f) == n && !fclose(f));
	free(path);
}

/* A run of one traced step, with tensors of three widths. */
static void
prepare(void)
{
	static const hu_format_id of[] = { HU_FP32, HU_BF16, HU_E4M3 };
	static const float v[N] = { 0, 1, -1, 2, 4, -8, 16, 0.5, -0.25, 3, 5, 6 };
	hu_tensor t[6];

	if (manifest)
		return;
	hu_program *p = hu_program_new("train");
	const char *temporary = getenv("TMPDIR"); /* in memory it takes a third of the time */
	snprintf(folder, sizeof folder, "%s/halfulp-fuzz-XXXXXX", temporary ? temporary : "/tmp");
	HU_ASSERT(mkdtemp(folder) && !atexit(forget));
	for (int i = 0; i < 3; i++) {
		char x[8], y[8];
		snprintf(x, sizeof x, "l%d.x", i);
		snprintf(y, sizeof y, "l%d.y", i);
		int in = hu_program_tensor(p, x, of[i], hu_shape2(3, 4), HU_ACTIVATION);
		int out = hu_program_tensor(p, y, of[i], hu_shape2(3, 4), HU_ACTIVATION), layer = in;
		hu_program_call(p, "relu", HU_FORWARD, "l", &layer, 1, &out, 1);
		for (int k = in; k <= out; k++)
			t[k] = (hu_tensor){
				.format = of[i], .shape = hu_shape2(3, 4), .n = N, .data = (void *)(size_t)v
			};
	}
	manifest = json_pack("{s:i s:{}}", "run_version", HU_RUN_VERSION, "files");
	json_t *files = json_object_get(manifest, "files");
	HU_ASSERT(hu_run_create(folder, 0) == HU_OK && hu_run_write_program(folder, p) == HU_OK &&
		  hu_run_write_trace(folder, STEP, p, t, NULL) == HU_OK &&
		  hu_run_add_file(folder, "program-train.json", files) == HU_OK &&
		  hu_run_add_file(folder, trace, files) == HU_OK &&
		  hu_run_write_json(folder, "manifest.json", manifest) == HU_OK);
	hu_program_free(p);
	char *path = hu_path(folder, "%s", trace);
	HU_ASSERT(hu_file_read(path, &whole, &whole_bytes) == HU_OK);
	free(path);
}

static void
put_manifest(const json_t *m)
{
	char *text = json_dumps(m, JSON_INDENT(1));

	put("manifest.json", text, strlen(text));
	free(text);
}

char *
fuzz_run_file(const char *name)
{
	prepare();
	put_manifest(manifest);
	put(trace, whole, whole_bytes);
	return hu_path(folder, "%s", name);
}

/* Whether a tensor of the mapped step has the checksum that its header says. */
static int
as_said(const hu_run *r, const hu_run_trace *m, int id)
{
	const hu_stensor *e = hu_safetensors_find(&m->s, r->train->t[id].name);
	char key[16], hex[17];

	if (!e)
		return m->t[id].data == NULL;
	snprintf(key, sizeof key, "xxh3:%s", e->name);
	snprintf(hex, sizeof hex, "%016llx", (unsigned long long)XXH3_64bits(e->data, e->bytes));
	const char *want = hu_safetensors_metadata(&m->s, key);
	return want && !strcmp(want, hex);
}

/* Whether the run is opened by one of several processes and all that its trace has can be read. */
static int
taken(void)
{
	hu_run_trace m;
	hu_run r;
	hu_status st = hu_run_open_shared(&r, folder);

	if (st != HU_OK)
		return 0;
	if ((st = hu_run_map_trace(&r, STEP, HU_RUN_TRACE_IN_MEMORY, &m)) == HU_OK) {
		for (int i = 0; i < r.train->nt && st == HU_OK; i++)
			if ((st = hu_run_trace_need(&m, i)) == HU_OK)
				HU_ASSERT(!json_object_get(json_object_get(json_object_get(r.manifest, "files"), trace),
						  "header") ||
					  as_said(&r, &m, i));
		hu_run_unmap_trace(&m);
	}
	if (st == HU_OK)
		st = hu_run_check_rest(&r, r.step, r.nstep, 0, 1);
	hu_run_release(&r);
	return st == HU_OK;
}

static int
told(int is)
{
	HU_ASSERT(is || (*hu_reason() && !strchr(hu_reason(), '\n')));
	return is;
}

int
fuzz_run(const uint8_t *data, size_t size)
{
	hu_run r;

	prepare();
	put_manifest(manifest);
	put(trace, data, size);
	int shared = told(taken()), alone = told(hu_run_open(&r, folder) == HU_OK);
	if (alone)
		hu_run_release(&r);
	HU_ASSERT(shared == alone);
	return shared;
}

int
fuzz_run_signed(const uint8_t *data, size_t size)
{
	double bytes;
	char hex[17];

	prepare();
	put(trace, data, size);
	char *path = hu_path(folder, "%s", trace);
	json_t *m = json_deep_copy(manifest), *entry = json_object_get(json_object_get(m, "files"), trace);
	hu_status st = hu_run_checksum_header(path, &bytes, hex);
	HU_ASSERT(st == HU_OK);
	json_object_set_new(entry, "bytes", json_integer((json_int_t)size));
	json_object_set_new(entry, "header", json_string(hex));
	put_manifest(m);
	int is = told(taken());
	free(path);
	json_decref(m);
	return is;
}

int
fuzz_manifest(const uint8_t *data, size_t size)
{
	prepare();
	put("manifest.json", data, size);
	put(trace, whole, whole_bytes);
	return told(taken());
}

/* The first byte of libFuzzer's input says what the rest is. */
FUZZ_ENTRY(if (size) (data[0] % 3 ? data[0] % 3 == 1 ? fuzz_run_signed : fuzz_manifest : fuzz_run)(data + 1, size - 1))
