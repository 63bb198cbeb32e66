/* SPDX-License-Identifier: Apache-2.0
   The outputs of each policy as an .npz file: an array an output, float32 where that holds its values. */
#include "analyzers/validate/outputs/outputs.h"

#include "lib/base/show.h"
#include "lib/base/file.h"
#include "lib/base/mem.h"
#include "lib/store/npy.h"
#include "lib/store/zip_out.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zip.h>

/* 1 where rows of the data are whole inputs of the model. */
static int
is_whole(const hu_samples *s)
{
	int whole = 0;

	for (size_t i = 0; i < s->narray; i++)
		whole |= !s->shared[i] && s->axis[i] < 0 && s->input[i]->rank;
	return whole;
}

/* Output k of the model on `rows` inputs: the rows, then the shape of one, which has the batch's axis where an input
   has several elements along it. */
static hu_validation_array
output_array(const hu_validation *v, size_t k, const char *dtype, size_t rows, const double *value)
{
	const hu_port *o = &v->m->out[k];
	int whole = is_whole(v->s);
	hu_validation_array a = { o->name, dtype, 1, { rows }, value };

	for (int i = 0; i < o->rank; i++) {
		size_t n = i == o->axis ? o->d[i] / v->batch : o->d[i];
		if (whole || i != o->axis || n != 1)
			a.shape[a.rank++] = n;
	}
	return a;
}

static hu_status
write_array(const hu_validation_array *a, const char *path)
{
	size_t n = 1;

	for (int i = 0; i < a->rank; i++)
		n *= a->shape[i];
	if (!strcmp(a->dtype, "f8"))
		return hu_npy_write(path, a->dtype, a->rank, a->shape, a->value);
	float *low = hu_xmalloc((n + 1) * sizeof *low);
	for (size_t i = 0; i < n; i++)
		low[i] = (float)a->value[i];
	hu_status st = hu_npy_write(path, a->dtype, a->rank, a->shape, low);
	free(low);
	return st;
}

/* A file's name of a policy's: what no file's name may have becomes '_', and a first '.', which would hide it. */
static char *
file_name(const char *dir, const char *policy, const char *end)
{
	char *name = hu_xstrdup(policy);

	for (char *s = name; *s; s++)
		if (strchr("/*:\\?\"<>|", *s) || *s < '!' || (*s == '.' && s == name))
			*s = '_';
	char *path = hu_path(dir, "%s%s", name, end);
	free(name);
	return path;
}

hu_status
hu_validation_files(const hu_variants *list, int exact, const char *dir)
{
	hu_status st = HU_OK;

	for (size_t i = 1; i < list->n && st == HU_OK; i++) {
		char *path = file_name(dir, list->v[i].name, ".npz"), *other = file_name(dir, "exact", ".npz");
		const char *whose = exact && !strcmp(path, other) ? "the exact network" : NULL;
		for (size_t k = 1; k < i && !whose; k++) {
			free(other);
			other = file_name(dir, list->v[k].name, ".npz");
			whose = strcmp(path, other) ? NULL : "another policy";
		}
		if (whose)
			st = hu_fail(HU_EINVAL,
				"--outputs: %s would hold the outputs of policy '%s' and of %s; give the "
				"policy's file, or what it says is its name, another name",
				path, hu_shown(list->v[i].name), whose);
		free(path);
		free(other);
	}
	return st;
}

/* Adds the file `from` to the archive as the array's, and takes away its name. */
static hu_status
add(zip_t *z, const char *path, const hu_validation_array *a, const char *from)
{
	char *name = hu_xprintf("%s.npy", a->name);
	FILE *f = fopen(from, "rbe");
	zip_source_t *source = f ? zip_source_filep(z, f, 0, -1) : NULL;
	zip_int64_t at = source ? zip_file_add(z, name, source, ZIP_FL_OVERWRITE | ZIP_FL_ENC_UTF_8) : -1;
	hu_status st = HU_OK;

	if (unlink(from))
		st = hu_fail(HU_EIO, "%s cannot be removed: %s", from, strerror(errno));
	if (at < 0) {
		st = hu_fail(HU_EIO, "%s: '%s' cannot be added: %s", path, name, f ? zip_strerror(z) : strerror(errno));
		if (source)
			zip_source_free(source);
		else if (f)
			fclose(f);
	} else {
		zip_set_file_compression(z, (zip_uint64_t)at, ZIP_CM_STORE, 0);
		/* The same outputs are the same bytes in every time zone, and whatever umask the temporary file had:
		   each is of the first of January 1980 and may be read by everybody. */
		zip_file_set_dostime(z, (zip_uint64_t)at, 0, 1 << 5 | 1, 0);
		zip_file_set_external_attributes(z, (zip_uint64_t)at, 0, ZIP_OPSYS_UNIX, (zip_uint32_t)0100644 << 16);
	}
	free(name);
	return st;
}

/* Writes the n arrays to the archive that o becomes. */
static hu_status
write_arrays(hu_outfile *o, const char *dir, const char *stem, const hu_validation_array *a, size_t n)
{
	hu_status st = HU_OK;
	zip_error_t e;

	zip_error_init(&e);
	zip_t *z = hu_zip_out(o, &e);
	if (!z)
		st = hu_fail(HU_EIO, "%s: %s", o->path, zip_error_strerror(&e));
	zip_error_fini(&e);
	for (size_t k = 0; k < n && st == HU_OK; k++) {
		char end[40];
		snprintf(end, sizeof end, ".%zu.npy.part", k);
		char *temp = file_name(dir, stem, end);
		st = write_array(&a[k], temp);
		if (st == HU_OK)
			st = add(z, o->path, &a[k], temp);
		else
			unlink(temp);
		free(temp);
	}
	if (st == HU_OK && zip_close(z) == 0)
		return HU_OK;
	if (st == HU_OK)
		st = hu_fail(HU_EIO, "%s: %s", o->path, zip_strerror(z));
	if (z)
		zip_discard(z);
	return st;
}

hu_status
hu_validation_arrays(const char *dir, const char *stem, const hu_validation_array *a, size_t n)
{
	char *path = file_name(dir, stem, ".npz");
	hu_outfile o;
	hu_status st = hu_outfile_open(&o, path);

	free(path);
	HU_TRY(st);
	st = write_arrays(&o, dir, stem, a, n);
	if (st == HU_OK)
		return hu_outfile_commit(&o);
	hu_outfile_abandon(&o);
	return st;
}

/* DIR/exact.npz: the exact outputs in doubles, by name, of the inputs of which all is told; and by the names
   halfulp.input and halfulp.off which inputs these are, and how far a value may be off. */
static hu_status
write_exact(const hu_validation *v, const char *dir)
{
	const hu_exact_network *x = v->exact;
	hu_validation_array *a = hu_xcalloc(x->nout + 2, sizeof *a);
	double *input = hu_xcalloc(x->n + 1, sizeof *input);
	size_t n = 0;

	for (size_t k = 0; k < x->nout; k++)
		if (x->value[k])
			a[n++] = output_array(v, k, "f8", x->n, x->value[k]);
	for (size_t r = 0; r < x->n; r++)
		input[r] = (double)x->input[r];
	a[n++] = (hu_validation_array){ "halfulp.input", "f8", 1, { x->n }, input };
	a[n++] = (hu_validation_array){ "halfulp.off", "f8", 1, { x->n }, x->off };
	hu_status st = hu_validation_arrays(dir, "exact", a, n);
	free(input);
	free(a);
	return st;
}

hu_status
hu_validation_write(const hu_validation *v, const char *dir)
{
	hu_validation_array *a = hu_xcalloc(v->m->nout + 1, sizeof *a);
	hu_status st = hu_make_dirs(dir);

	for (size_t i = 0; i < v->nrow && st == HU_OK; i++) {
		for (size_t k = 0; k < v->m->nout; k++)
			a[k] = output_array(v, k, v->m->p->t[v->m->out[k].tensor].format == HU_FP64 ? "f8" : "f4",
				v->s->n, v->row[i].e.out[k]);
		st = hu_validation_arrays(dir, v->row[i].policy, a, v->m->nout);
	}
	free(a);
	if (st == HU_OK && v->exact && v->exact->n)
		st = write_exact(v, dir);
	return st;
}
