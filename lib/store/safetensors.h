/* SPDX-License-Identifier: Apache-2.0
   safetensors files: eight bytes of header length, a JSON header, then raw tensors, little endian and row-major.
   Reading maps the file and trusts nothing in it; writing is atomic. This knows only bytes and names of dtypes; what a
   code means is lib/number's business. Compilation fails on a big-endian machine. */
#ifndef HU_STORE_SAFETENSORS_H
#define HU_STORE_SAFETENSORS_H

#include "lib/number/format.h"

#include <stddef.h>

enum {
	HU_SAFETENSORS_RANK = 8, /* the most dimensions a tensor may have */
	HU_SAFETENSORS_HEADER =
		100000000 /* the longest header; the format's reference implementation refuses longer ones */
};

typedef struct hu_stensor {
	const char *name;           /* UTF-8, owned by the file */
	const char *dtype;          /* a static string: "F32", "BF16", "F8_E4M3", … */
	int bits;                   /* of an element; dtypes of 4 and 6 bits are packed */
	int rank;                   /* 0: a scalar */
	size_t shape[HU_SAFETENSORS_RANK];
	size_t count;               /* elements; 0 if a dimension is 0 */
	const void *data;           /* aligned to an element; never NULL; read only */
	size_t bytes;
	size_t offset;              /* of data in the file, for messages */
} hu_stensor;

typedef struct hu_safetensors {
	hu_stensor *tensor;         /* in the order of their bytes in the file */
	size_t n;
	char *path;
	/* Private. */
	struct json_t *header, *metadata;
	const hu_stensor **by_name;
	void *map;
	size_t map_bytes;
	void **copy;                /* tensors that other programs wrote unaligned */
	size_t copies;
} hu_safetensors;

/* Bits of an element of this dtype ("F32": 32); 0 if the name is not known. */
int hu_safetensors_bits(const char *dtype);
/* The format whose codes the dtype's elements are; HU_NO_FORMAT if there is none. */
hu_format_id hu_safetensors_format(const char *dtype);

/* Sets dtype, bits, count and bytes of *t from dtype, t->rank and t->shape. Returns 0 if dtype is not known, or if the
   size overflows or is not a whole number of bytes. */
int hu_stensor_measure(hu_stensor *t, const char *dtype);

/* Maps path and checks all of it: header length, JSON, no name twice, dtypes, dtype × shape = bytes, and that the
   tensors' ranges leave no gap, do not overlap and end with the file. HU_EFILE says what is wrong and at which byte; *s
   is then empty and needs no release. The file must not be shortened while it is open: as with any mapping, that would
   end the program with SIGBUS. */
hu_status hu_safetensors_open(hu_safetensors *s, const char *path);

/* The same for n bytes in memory, which must outlive *s. name appears in messages. */
hu_status hu_safetensors_parse(hu_safetensors *s, const char *name, const void *bytes, size_t n);
void hu_safetensors_release(hu_safetensors *s);

/* The tensor of this name; NULL if there is none. */
const hu_stensor *hu_safetensors_find(const hu_safetensors *s, const char *name);
/* A string of __metadata__; NULL if there is none. */
const char *hu_safetensors_metadata(const hu_safetensors *s, const char *key);

/* A file under construction. Tensors are borrowed, not copied: their data must not change until commit, which writes
   the header and the data. */
typedef struct hu_safetensors_writer {
	hu_stensor *tensor;
	size_t n, cap;
	struct json_t *names, *metadata;
} hu_safetensors_writer;

void hu_safetensors_begin(hu_safetensors_writer *w);

/* Adds a tensor; name and shape are copied. HU_EINVAL if the name exists already, is "__metadata__" or is not UTF-8, if
   the dtype is unknown, the rank above 8, or the size beyond size_t or not a whole number of bytes. */
hu_status hu_safetensors_add(
	hu_safetensors_writer *w, const char *name, const char *dtype, int rank, const size_t *shape, const void *data);

/* Sets a string of __metadata__; the last value of a key wins. HU_EINVAL if either is not UTF-8. */
hu_status hu_safetensors_set(hu_safetensors_writer *w, const char *key, const char *value);

/* The size of the data section in bytes. */
size_t hu_safetensors_bytes(const hu_safetensors_writer *w);

/* Writes path atomically and releases *w, whether it succeeds or fails. The same calls give the same bytes. Wider
   dtypes come first, so every tensor starts at a multiple of its element's size; equal widths keep the order of the
   calls. */
hu_status hu_safetensors_commit(hu_safetensors_writer *w, const char *path);
void hu_safetensors_abandon(hu_safetensors_writer *w);
#endif
