/* SPDX-License-Identifier: Apache-2.0
   The outputs of each policy as an .npz file: an array an output, float32 where that holds its values. */
#include "analyzers/validate/outputs.h"

#include "lib/base/file.h"
#include "lib/base/mem.h"
#include "lib/store/npy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zip.h>

/* Output K of J as an array: the rows of all inputs, then the shape of one. */
static hu_status
array(const hu_validation *v, const hu_judgement *j, size_t k, const char *path)
{
	const hu_port *o = &v->m->out[k];
	size_t n = v->s->n * j->e.each[k], shape[HU_NPY_RANK] = { v->s->n }, rest = 1;
	int rank = 1, wide = v->m->p->t[o->tensor].format == HU_FP64;
	hu_status st;

	for (int i = 1; i < o->rank; i++)
		rest *= o->d[i];
	if (v->s->whole || rest != j->e.each[k]) { /* the batch is not its first axis */
		for (int i = 0; i < o->rank && !v->s->whole; i++)
			rest = 0;
		for (int i = 0; i < o->rank && v->s->whole; i++)
			shape[rank++] = o->d[i];
		if (!v->s->whole)
			shape[rank++] = j->e.each[k];
	} else {
		for (int i = 1; i < o->rank; i++)
			shape[rank++] = o->d[i];
	}
	float *low = wide ? NULL : hu_xmalloc((n + 1) * sizeof *low);
	for (size_t i = 0; low && i < n; i++)
		low[i] = (float)j->e.out[k][i];
	st = hu_npy_write(path, wide ? "f8" : "f4", rank, shape, wide ? (const void *)j->e.out[k] : low);
	free(low);
	return st;
}

/* A file's name of a policy's: what no file's name may have becomes '_', and a first '.', which would hide it. */
static char *
file_name(const char *dir, const char *policy, const char *end)
{
	char *name = hu_xstrdup(policy);

	for (char *s = name; *s; s++)
		if (*s == '/' || *s == '*' || *s < '!' || (*s == '.' && s == name))
			*s = '_';
	char *path = hu_path(dir, "%s%s", name, end);
	free(name);
	return path;
}

static hu_status
write_one(const hu_validation *v, const hu_judgement *j, const char *dir)
{
	char *path = file_name(dir, j->policy, ".npz"), *part = file_name(dir, j->policy, ".npz.part");
	hu_status st = HU_OK;
	int code = 0;
	zip_t *z = zip_open(part, ZIP_CREATE | ZIP_TRUNCATE, &code);

	if (!z)
		st = hu_fail(HU_EIO, "%s: cannot be written", path);
	char **temp = hu_xcalloc(v->m->nout + 1, sizeof *temp);
	for (size_t k = 0; k < v->m->nout && st == HU_OK; k++) {
		char end[40];
		snprintf(end, sizeof end, ".%zu.npy.part", k);
		temp[k] = file_name(dir, j->policy, end);
		st = array(v, j, k, temp[k]);
		char *name = hu_xprintf("%s.npy", v->m->out[k].name);
		zip_source_t *from = st == HU_OK ? zip_source_file(z, temp[k], 0, -1) : NULL;
		zip_int64_t at = from ? zip_file_add(z, name, from, ZIP_FL_OVERWRITE | ZIP_FL_ENC_UTF_8) : -1;
		if (st == HU_OK && at < 0)
			st = hu_fail(HU_EIO, "%s: '%s' cannot be added: %s", path, name, zip_strerror(z));
		if (at >= 0) {
			zip_set_file_compression(z, (zip_uint64_t)at, ZIP_CM_STORE, 0);
			zip_file_set_mtime(
				z, (zip_uint64_t)at, 315532800, 0); /* 1980: the same outputs are the same bytes */
		}
		free(name);
	}
	if (z && st == HU_OK && zip_close(z) < 0)
		st = hu_fail(HU_EIO, "%s: %s", path, zip_strerror(z));
	else if (z && st != HU_OK)
		zip_discard(z);
	for (size_t k = 0; k < v->m->nout; k++)
		if (temp[k])
			unlink(temp[k]);
	if (st == HU_OK && rename(part, path))
		st = hu_fail(HU_EIO, "%s: cannot be written", path);
	if (st != HU_OK)
		unlink(part);
	for (size_t k = 0; k < v->m->nout; k++)
		free(temp[k]);
	free(temp);
	free(path);
	free(part);
	return st;
}

hu_status
hu_validation_write(const hu_validation *v, const char *dir)
{
	HU_TRY(hu_make_dirs(dir));
	for (size_t i = 0; i < v->nrow; i++)
		HU_TRY(write_one(v, &v->row[i], dir));
	return HU_OK;
}
