/* SPDX-License-Identifier: Apache-2.0
   libzip's names for halfulp-check where no static libzip is installed: archives then cannot be opened, and the message
   says so. Linked only where libzip is not. */
#include <stddef.h>
#include <zip.h>

static const char sentence[] = "this halfulp-check was linked without libzip and reads no .npz: save .npy or "
			       ".safetensors instead, or use halfulp";

zip_t *
zip_open(const char *path, int flags, int *error)
{
	(void)path;
	(void)flags;
	*error = ZIP_ER_OPNOTSUPP;
	return NULL;
}

zip_t *
zip_open_from_source(zip_source_t *source, int flags, zip_error_t *error)
{
	(void)source;
	(void)flags;
	(void)error;
	return NULL;
}

zip_source_t *
zip_source_buffer_create(const void *bytes, zip_uint64_t n, int release, zip_error_t *error)
{
	(void)bytes;
	(void)n;
	(void)release;
	(void)error;
	return NULL;
}

void
zip_source_free(zip_source_t *source)
{
	(void)source;
}

void
zip_error_init(zip_error_t *error)
{
	(void)error;
}

void
zip_error_init_with_code(zip_error_t *error, int code)
{
	(void)error;
	(void)code;
}

void
zip_error_fini(zip_error_t *error)
{
	(void)error;
}

const char *
zip_error_strerror(zip_error_t *error)
{
	(void)error;
	return sentence;
}

int
zip_error_code_zip(const zip_error_t *error)
{
	(void)error;
	return ZIP_ER_OPNOTSUPP;
}

/* Nothing below is reached, since no archive is ever open. */

const char *
zip_strerror(zip_t *zip)
{
	(void)zip;
	return sentence;
}

const char *
zip_file_strerror(zip_file_t *file)
{
	(void)file;
	return sentence;
}

zip_error_t *
zip_file_get_error(zip_file_t *file)
{
	(void)file;
	return NULL;
}

void
zip_discard(zip_t *zip)
{
	(void)zip;
}

zip_file_t *
zip_fopen_index(zip_t *zip, zip_uint64_t index, zip_flags_t flags)
{
	(void)zip;
	(void)index;
	(void)flags;
	return NULL;
}

zip_int64_t
zip_fread(zip_file_t *file, void *bytes, zip_uint64_t n)
{
	(void)file;
	(void)bytes;
	(void)n;
	return -1;
}

int
zip_fclose(zip_file_t *file)
{
	(void)file;
	return ZIP_ER_OPNOTSUPP;
}

zip_int64_t
zip_get_num_entries(zip_t *zip, zip_flags_t flags)
{
	(void)zip;
	(void)flags;
	return -1;
}

int
zip_stat_index(zip_t *zip, zip_uint64_t index, zip_flags_t flags, zip_stat_t *s)
{
	(void)zip;
	(void)index;
	(void)flags;
	(void)s;
	return -1;
}
