/* SPDX-License-Identifier: Apache-2.0
   A source of libzip that is an output file (zip_out.h). */
#include "lib/store/zip_out.h"

#include "lib/base/mem.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct target {
	hu_outfile *o;
	zip_error_t error;
} target;

static zip_int64_t
failed(target *t, int code)
{
	zip_error_set(&t->error, code, errno);
	return -1;
}

static zip_int64_t
seek(target *t, void *data, zip_uint64_t length)
{
	zip_source_args_seek_t *a = ZIP_SOURCE_GET_ARGS(zip_source_args_seek_t, data, length, &t->error);

	return a && !fseeko(t->o->f, a->offset, a->whence) ? 0 : failed(t, ZIP_ER_SEEK);
}

/* What libzip asks a source for. Of what it reads there is nothing: the archive is new. */
static zip_int64_t
act(void *user, void *data, zip_uint64_t length, zip_source_cmd_t command)
{
	target *t = user;
	zip_int64_t at;

	switch (command) {
	case ZIP_SOURCE_SUPPORTS:
		return zip_source_make_command_bitmap(ZIP_SOURCE_OPEN, ZIP_SOURCE_READ, ZIP_SOURCE_CLOSE,
			ZIP_SOURCE_SEEK, ZIP_SOURCE_TELL, ZIP_SOURCE_STAT, ZIP_SOURCE_ERROR, ZIP_SOURCE_FREE,
			ZIP_SOURCE_BEGIN_WRITE, ZIP_SOURCE_WRITE, ZIP_SOURCE_SEEK_WRITE, ZIP_SOURCE_TELL_WRITE,
			ZIP_SOURCE_COMMIT_WRITE, ZIP_SOURCE_ROLLBACK_WRITE, ZIP_SOURCE_REMOVE, -1);
	case ZIP_SOURCE_STAT: zip_stat_init(data); return sizeof(zip_stat_t);
	case ZIP_SOURCE_WRITE:
		if (fwrite(data, 1, length, t->o->f) != length)
			return failed(t, ZIP_ER_WRITE);
		return (zip_int64_t)length;
	case ZIP_SOURCE_SEEK_WRITE: return seek(t, data, length);
	case ZIP_SOURCE_TELL_WRITE: return (at = ftello(t->o->f)) < 0 ? failed(t, ZIP_ER_TELL) : at;
	case ZIP_SOURCE_COMMIT_WRITE: return fflush(t->o->f) ? failed(t, ZIP_ER_WRITE) : 0;
	case ZIP_SOURCE_ERROR: return zip_error_to_data(&t->error, data, length);
	case ZIP_SOURCE_FREE:
		zip_error_fini(&t->error);
		free(t);
		return 0;
	default: /* Nothing needs be done to open, seek or close. */
		return 0;
	}
}

zip_t *
hu_zip_out(hu_outfile *o, zip_error_t *e)
{
	target *t = hu_xcalloc(1, sizeof *t);

	t->o = o;
	zip_error_init(&t->error);
	zip_source_t *source = zip_source_function_create(act, t, e);
	zip_t *z = source ? zip_open_from_source(source, ZIP_CREATE | ZIP_TRUNCATE, e) : NULL;
	if (!source)
		free(t);
	else if (!z)
		zip_source_free(source);
	return z;
}
