/* SPDX-License-Identifier: Apache-2.0
   safetensors: eight bytes of header length, a JSON header, then raw tensors,
   little endian and row-major. Reading maps the file and trusts nothing in it;
   writing is atomic. Knows bytes and dtype names only: what a code means is
   lib/number's business. Of a big-endian machine the code says no at compile time. */
#ifndef HU_STORE_SAFETENSORS_H
#define HU_STORE_SAFETENSORS_H

#include "lib/number/format.h"

#include <stddef.h>

enum {
	HU_SAFETENSORS_RANK = 8, /* most dimensions a tensor may have */
	HU_SAFETENSORS_HEADER =
		100000000 /* longest header: the format's reference implementation refuses longer ones */
};

typedef struct hu_stensor {
	const char *name;           /* UTF-8, owned by the file */
	const char *dtype;          /* a static string: "F32", "BF16", "F8_E4M3", … */
	int bits;                   /* of an element; 4 and 6 exist too and are packed */
	int rank;                   /* 0: a scalar */
	size_t shape[HU_SAFETENSORS_RANK];
	size_t count;               /* elements; 0 where a dimension is 0 */
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
	void **copy;                /* tensors a foreign writer left unaligned */
	size_t copies;
} hu_safetensors;

/* Bits of an element of DTYPE ("F32": 32); 0 for a name that is not known. */
int hu_safetensors_bits(const char *dtype);
/* The format whose codes a dtype's elements are; HU_NO_FORMAT where they are none. */
hu_format_id hu_safetensors_format(const char *dtype);

/* Sets dtype, bits, count and bytes of *T from DTYPE, T->rank and T->shape.
   False where DTYPE is not known, or the size overflows or is not in whole bytes. */
int hu_stensor_measure(hu_stensor *t, const char *dtype);

/* Maps PATH and checks all of it: header length, JSON, no name twice, dtypes,
   dtype × shape = bytes, ranges that touch, do not overlap and end with the
   file. HU_EFILE says what is wrong and at which byte; *S is then empty and
   needs no release. The file must not be shortened while it is open: like any
   mapping, that would end the program with SIGBUS. */
hu_status hu_safetensors_open(hu_safetensors *s, const char *path);

/* The same for N bytes in memory, which must outlive *S; NAME is for messages. */
hu_status hu_safetensors_parse(hu_safetensors *s, const char *name, const void *bytes, size_t n);
void hu_safetensors_release(hu_safetensors *s);

/* NULL where absent. */
const hu_stensor *hu_safetensors_find(const hu_safetensors *s, const char *name);
/* A string of __metadata__; NULL where absent. */
const char *hu_safetensors_metadata(const hu_safetensors *s, const char *key);

/* A file being put together. Tensors are borrowed, not copied: DATA must stay
   as it is until commit, which writes the header and streams them out. */
typedef struct hu_safetensors_writer {
	hu_stensor *tensor;
	size_t n, cap;
	struct json_t *names, *metadata;
} hu_safetensors_writer;

void hu_safetensors_begin(hu_safetensors_writer *w);

/* NAME and SHAPE are copied. HU_EINVAL for a name that is there already, is
   "__metadata__" or is not UTF-8, an unknown dtype, a rank above 8, or a size
   beyond size_t or not in whole bytes. */
hu_status hu_safetensors_add(
	hu_safetensors_writer *w, const char *name, const char *dtype, int rank, const size_t *shape, const void *data);

/* The last value of a key wins. HU_EINVAL where either is not UTF-8. */
hu_status hu_safetensors_set(hu_safetensors_writer *w, const char *key, const char *value);

/* Bytes the data section will have. */
size_t hu_safetensors_bytes(const hu_safetensors_writer *w);

/* Writes PATH atomically and releases *W, whether it succeeded or not. The same
   calls give the same bytes. Wider dtypes come first, so every tensor starts at
   a multiple of its element; equal widths keep the order they were added in. */
hu_status hu_safetensors_commit(hu_safetensors_writer *w, const char *path);
void hu_safetensors_abandon(hu_safetensors_writer *w);
#endif
