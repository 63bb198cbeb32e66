/* SPDX-License-Identifier: Apache-2.0
   A traced step that is read in place. fp32 and fp64 tensors are the file's mapped pages; narrower ones are unpacked,
   into memory if they are small and into an unlinked file beside the trace if they are large. A step larger than memory
   can thus be read through, because every page can be written back or read again. */
#ifndef HU_STORE_RUN_TRACE_H
#define HU_STORE_RUN_TRACE_H

#include "lib/store/run.h"
#include "lib/store/safetensors.h"

/* When unpacked tensors exceed this many bytes they go to a file; below, a page fault costs more than the memory
   saved. */
#define HU_RUN_TRACE_IN_MEMORY ((size_t)1 << 28)

typedef struct hu_run_trace {
	hu_tensor *t;              /* by id of the training program; data is NULL if not recorded; read only */
	/* Private. */
	hu_safetensors s;
	const hu_run *r;
	size_t step;
	const hu_stensor **unread; /* by id: where a tensor's codes are that nobody has needed so far; else NULL */
	void *spill;
	size_t spill_bytes;
	int in_file;
} hu_run_trace;

/* As hu_run_load_trace, except that no tensor may be read before hu_run_trace_need asks for it, so that nothing is read
   of the file that is not needed; every dtype and shape is checked, and of a shared run the file's length and header.
   in_memory is HU_RUN_TRACE_IN_MEMORY, or another limit in tests. r must outlive *out. */
hu_status hu_run_map_trace(const hu_run *r, size_t step, size_t in_memory, hu_run_trace *out);
void hu_run_unmap_trace(hu_run_trace *m);
/* Makes tensor id's values readable, where it was recorded; of a shared run HU_EFILE where its bytes are not those of
   its checksum. Not for several threads at once. */
hu_status hu_run_trace_need(hu_run_trace *m, int id);

/* Releases the pages that can be read again. To be called between the calls of a long walk through the step. */
void hu_run_trace_cool(const hu_run_trace *m);
#endif
