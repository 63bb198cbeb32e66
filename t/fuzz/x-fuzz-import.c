/* SPDX-License-Identifier: Apache-2.0
   Damaged models through the whole import: those of t/import/t-nodes.py, or of the folder that is the first argument or
   HALFULP_MODELS, with bytes changed and blocks of one put into another. Each is refused in one line, or becomes a
   valid program, which is run where it is small. HALFULP_FUZZ is the number of files, HALFULP_SEED the seed; the file
   at hand is written to the second argument, if there is one, so that a crash leaves it there. With HU_LIBFUZZER it is
   libFuzzer's target, which mutates by coverage: clang -fsanitize=fuzzer,address with libhalfulp.a, as t/fuzz/fuzz.h
   has it. */
#include "lib/base/file.h"
#include "lib/base/hash.h"
#include "lib/base/mem.h"
#include "lib/import/import.h"
#include "t/tool/tap.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

typedef struct blob { unsigned char *p; size_t n; } blob;

/* Operations of a run, and bytes of its tensors. */
static double
work_of(const hu_program *p)
{
	double all = 0;

	for (int i = 0; i < p->nc; i++)
		all += hu_call_cost(p, &p->c[i]).flops + (double)hu_count(p->t[p->c[i].out[0]].shape);
	for (int i = 0; i < p->nt; i++)
		all += (double)hu_count(p->t[i].shape);
	return all;
}

static void
run(const hu_imported *m)
{
	hu_exec x;

	if (work_of(m->p) > 1e6 || hu_exec_init(&x, m->p) != HU_OK)
		return;
	hu_imported_load(m, &x);
	HU_ASSERT(hu_exec_run(&x, &(hu_env){ 0, 0 }) == HU_OK || *hu_reason());
	hu_exec_release(&x);
}

/* 2: a program; 1: a model that is refused; 0: no model. */
static int
one(const blob *b)
{
	hu_imported m;
	hu_onnx onnx;

	if (hu_onnx_parse(&onnx, "fuzz", b->p, b->n) != HU_OK) {
		HU_ASSERT(*hu_reason() && !strchr(hu_reason(), '\n'));
		return 0;
	}
	hu_status st = hu_import(&m, &onnx, NULL, 0, HU_TYPING_TENSORS);
	if (st == HU_OK) {
		run(&m);
		hu_imported_release(&m);
	} else {
		HU_ASSERT(*hu_reason() && !strchr(hu_reason(), '\n'));
	}
	hu_onnx_release(&onnx);
	return st == HU_OK ? 2 : 1;
}

#ifdef HU_LIBFUZZER
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	one(&(blob){ (unsigned char *)(size_t)data, size });
	return 0;
}
#else
static blob *model;
static size_t n, cap;
static uint64_t state;

static uint64_t
draw(uint64_t below)
{
	state = hu_mix64(state + 0x9e3779b97f4a7c15);
	return below ? state % below : 0;
}

static void
load_all(const char *dir)
{
	DIR *d = opendir(dir);

	for (struct dirent *e; d && (e = readdir(d));) {
		char *path, *p;
		blob b;
		if (!strstr(e->d_name, ".onnx"))
			continue;
		path = hu_path(dir, "%s", e->d_name);
		if (hu_file_read(path, &p, &b.n) != HU_OK)
			bail_out("%s", hu_reason());
		b.p = (unsigned char *)p;
		HU_GROW(model, n, cap);
		model[n++] = b;
		free(path);
	}
	if (d)
		closedir(d);
}

/* One to four changes of a copy: a bit, a byte, a telling number, a cut, or a block of another model. */
static blob
damaged(const blob *from)
{
	static const unsigned char telling[] = { 0, 1, 2, 0x7f, 0x80, 0xff };
	blob d = { hu_xmalloc(from->n + 64), from->n };

	memcpy(d.p, from->p, d.n);
	for (size_t changes = 1 + draw(4); changes && d.n; changes--) {
		size_t at = draw(d.n), length = 1 + draw(16);
		const blob *other = &model[draw(n)];
		switch (draw(6)) {
		case 0: d.p[at] ^= (unsigned char)(1u << draw(8)); break;
		case 1: d.p[at] = (unsigned char)draw(256); break;
		case 2: d.p[at] = telling[draw(sizeof telling)]; break;
		case 3: d.n = draw(8) ? d.n : at; break;
		case 4: d.p[at] = (unsigned char)(d.p[at] + (draw(2) ? 1 : 255)); break;
		default:
			length = length < d.n - at ? length : d.n - at;
			length = length < other->n ? length : other->n;
			memcpy(d.p + at, other->p + draw(other->n - length + 1), length);
		}
	}
	return d;
}

/* A folder of models, one a case of t/import/t-nodes.py; NULL where it cannot be run. */
static const char *
written(void)
{
	const char *top = getenv("srcdir"), *dir = test_dir();
	char *line = hu_xprintf("python3 '%s/t/import/t-nodes.py' --keep '%s' >/dev/null", top ? top : ".", dir);
	int code = system(line);

	free(line);
	return code == 0 ? dir : NULL;
}

int
main(int argc, char **argv)
{
	const char *rounds = getenv("HALFULP_FUZZ"), *seed = getenv("HALFULP_SEED");
	const char *dir = argc > 1 ? argv[1] : getenv("HALFULP_MODELS");
	size_t all = rounds ? strtoul(rounds, NULL, 10) : 20000, told[3] = { 0 };

	if (!dir && !(dir = written()))
		skip_all("python3 cannot write the models");
	state = seed ? strtoull(seed, NULL, 10) : 1;
#ifndef __SANITIZE_ADDRESS__ /* which reserves terabytes */
	struct rlimit most = { (rlim_t)4 << 30, (rlim_t)4 << 30 }; /* a file of a few kilobytes asks for no more */
	setrlimit(RLIMIT_DATA, &most);
#endif
	load_all(dir);
	if (!n)
		bail_out("%s has no models", dir);
	for (size_t i = 0; i < n; i++)
		told[one(&model[i])]++;
	ok(told[2] == n, "%zu of %zu undamaged models become programs", told[2], n);
	memset(told, 0, sizeof told);
	for (size_t i = 0; i < all; i++) {
		blob d = damaged(&model[draw(n)]);
		if (argc > 2) {
			FILE *f = fopen(argv[2], "wb");
			if (f) {
				fwrite(d.p, 1, d.n, f);
				fclose(f);
			}
		}
		told[one(&d)]++;
		free(d.p);
	}
	ok(told[0] + told[1] + told[2] == all, "%zu damaged files: %zu no models, %zu refused, %zu programs", all,
		told[0], told[1], told[2]);
	for (size_t i = 0; i < n; i++)
		free(model[i].p);
	free(model);
	return done_testing();
}
#endif
