/* SPDX-License-Identifier: Apache-2.0
   What a file of anyone's holds, as items with names: tensors of safetensors, npz, npy and ONNX, series of
   metrics, or all of a run. Large ones are mapped or read in pieces, never held. */
#ifndef HU_ANALYZERS_CONTENTS_H
#define HU_ANALYZERS_CONTENTS_H

#include "lib/number/format.h"
#include "lib/store/npy.h"
#include "lib/store/safetensors.h"
#include "lib/store/series/series.h"

typedef enum hu_item_kind { HU_ITEM_FLOAT, HU_ITEM_INT, HU_ITEM_UINT, HU_ITEM_SERIES } hu_item_kind;

typedef struct hu_item {
	char *name;
	const char *dtype; /* as safetensors writes it: "F32"; "numbers" or "texts" of a series */
	hu_item_kind kind;
	hu_format_id format; /* of its elements; HU_NO_FORMAT for integers and bool, and for a series of texts */
	int bits, rank;      /* of an element: 4, 8, 16, 32 or 64 */
	size_t shape[HU_SAFETENSORS_RANK], count, bytes; /* a complex number counts as two elements */
	const unsigned char *data;                       /* NULL for a member of an archive and for a series */
	int mapped;                                      /* data is a file's */
	const hu_metric_series *series;
	size_t source, member, start;
} hu_item;

typedef struct hu_contents {
	char *path;
	hu_item *item; /* by ascending name */
	size_t n, cap;
	struct hu_contents_source *source;
	size_t sources, sourcecap;
} hu_contents;

/* Opens PATH, which the caller releases. A name that ends in .onnx is a model; safetensors, npz and npy are recognised
   by how the file begins; a run has items named checkpoint/step-000100/NAME, trace/step-000100/NAME and metrics/NAME,
   without the metrics that measure the machine; anything else is read as metrics (lib/store/series/series.h, which
   explains `step`). Fails with HU_EFILE, in one line. */
hu_status hu_contents_open(hu_contents *c, const char *path, const char *step);
void hu_contents_release(hu_contents *c);
const hu_item *hu_contents_find(const hu_contents *c, const char *name);

/* An item's elements from the first to the last, in pieces. */
typedef struct hu_item_reader {
	const hu_contents *c;
	const hu_item *t;
	struct zip_file *member;
	unsigned char *piece;
	size_t room, at, last;
} hu_item_reader;

/* Opens item t for reading from its first byte. At most `room` bytes may be asked for at once. */
hu_status hu_item_open(hu_item_reader *r, const hu_contents *c, const hu_item *t, size_t room);
/* Sets *p to the item's next bytes, which are valid until the next call. Fails with HU_EFILE where the archive does not
   give them. */
hu_status hu_item_next(hu_item_reader *r, size_t bytes, const unsigned char **p);
/* Closes the reader. Fails with HU_EFILE where an archive's checksum is wrong, which is known only if all was read. */
hu_status hu_item_close(hu_item_reader *r);
#endif
