/* SPDX-License-Identifier: Apache-2.0
   What a training writes into its run directory beside the tables: manifest, programs, traces (the recorded tensors of
   a step), checkpoints. */
#ifndef HU_TRAINER_RECORD_H
#define HU_TRAINER_RECORD_H

#include "trainer/record/metrics.h"

typedef struct hu_record {
	char *dir;
	json_t *manifest;        /* its "files" grows */
	size_t from;             /* the step that this process began with */
	char *select;            /* tensors to trace, by id */
	size_t *trace_step;      /* ascending */
	int ntrace;
	double trace_bytes;      /* of one step */
} hu_record;

/* Decides which steps and tensors to trace. HU_EINVAL where a step is not one of this run, or where the trace would be
   larger than the configuration's cap. Writes nothing. */
hu_status hu_record_init(hu_record *r, const char *dir, const hu_session *s);
void hu_record_release(hu_record *r);

/* Makes the run directory and writes the programs and a manifest that says that the run is not finished. What was made
   is removed again where that fails. command is the command line as given. */
hu_status hu_record_begin(hu_record *r, const hu_session *s, const json_t *command);
/* Continues an interrupted run. manifest is the one that was read; it is copied, and its "backend" becomes the one that
   s runs on. */
void hu_record_continue(hu_record *r, const json_t *manifest, const hu_session *s);
/* Enters into the manifest what a process that was killed had written since it wrote the manifest last: the traces of
   steps before `from`, with which this process begins, and the checkpoints, of which it keeps the newest two. */
hu_status hu_record_recover(hu_record *r, size_t from);
/* Returns 1 where the step is traced. */
int hu_record_traces(const hu_record *r, size_t step);
/* Writes the tensors of a traced step; does nothing for other steps. To be called between hu_session_step and
   hu_session_commit. */
hu_status hu_record_trace(hu_record *r, hu_session *s, size_t step);
/* Writes the tables, the state before step `step` and the manifest, in this order: whatever ends the process, the
   newest checkpoint's rows are on disk. Older checkpoints except one are removed. */
hu_status hu_record_checkpoint(hu_record *r, hu_session *s, const hu_metrics *m, size_t step);
/* Writes the manifest with the tables' checksums, which marks the run as finished. */
hu_status hu_record_finish(hu_record *r, size_t steps);
#endif
