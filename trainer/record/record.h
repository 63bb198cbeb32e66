/* SPDX-License-Identifier: Apache-2.0
   What a training leaves in its run directory beside the tables: manifest, programs,
   traces, checkpoints. */
#ifndef HU_TRAINER_RECORD_H
#define HU_TRAINER_RECORD_H

#include "trainer/record/metrics.h"

typedef struct hu_record {
	char *dir;
	json_t *manifest;        /* its "files" grows */
	char *select;            /* tensors to trace, by id */
	size_t *trace_step;      /* ascending */
	int ntrace;
	double trace_bytes;      /* of one step */
} hu_record;

/* Which steps and tensors to trace; HU_EINVAL where a step is no step of this run, or the trace would be
   larger than the configuration's cap. Writes nothing. */
hu_status hu_record_init(hu_record *r, const char *dir, const hu_session *s);
void hu_record_release(hu_record *r);

/* Makes RUN/ and writes the programs and a manifest that says the run is not finished. What
   was made is removed again where that fails. command: the line as given. */
hu_status hu_record_begin(hu_record *r, const hu_session *s, const json_t *command);
/* Continues: manifest is the one read, which is copied; its "backend" becomes the one that s runs on. */
void hu_record_continue(hu_record *r, const json_t *manifest, const hu_session *s);
/* Whether a step is traced. */
int hu_record_traces(const hu_record *r, size_t step);
/* The values of one step where it is to be traced; between step and commit. */
hu_status hu_record_trace(hu_record *r, hu_session *s, size_t step);
/* Tables, state before step `step`, manifest, in this order: whatever ends the process, the newest
   checkpoint has its rows on disk. Older checkpoints but one are removed. */
hu_status hu_record_checkpoint(hu_record *r, hu_session *s, const hu_metrics *m, size_t step);
/* The manifest with the tables' checksums: the run is finished. */
hu_status hu_record_finish(hu_record *r, size_t steps);
#endif
