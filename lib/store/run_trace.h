/* SPDX-License-Identifier: Apache-2.0
   A traced step that is looked at in place. fp32 and fp64 tensors are the file's own pages; narrower ones are
   unpacked, into memory where they are few and into an unlinked file beside the trace where they are many, so that a
   step larger than memory can be walked through: every page can be written back or read again. */
#ifndef HU_STORE_RUN_TRACE_H
#define HU_STORE_RUN_TRACE_H

#include "lib/store/run.h"
#include "lib/store/safetensors.h"

/* Unpacked bytes beyond which they go to a file: below it a page fault costs more than the memory is worth. */
#define HU_RUN_TRACE_IN_MEMORY ((size_t)1 << 28)

typedef struct hu_run_trace {
	hu_tensor *t;              /* by id of the training program; data NULL where not recorded; read only */
	/* Private. */
	hu_safetensors s;
	void *spill;
	size_t spill_bytes;
	int in_file;
} hu_run_trace;

/* As hu_run_load_trace; every dtype and shape is checked. IN_MEMORY: HU_RUN_TRACE_IN_MEMORY, or another limit for
   tests. */
hu_status hu_run_map_trace(const hu_run *r, size_t step, size_t in_memory, hu_run_trace *out);
void hu_run_unmap_trace(hu_run_trace *m);

/* Gives the pages back that can be read again: to be called between calls of a long walk. */
void hu_run_trace_cool(const hu_run_trace *m);
#endif
