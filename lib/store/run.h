/* SPDX-License-Identifier: Apache-2.0
   The run directory, where the stages meet (doc/formats.md). Writing side for the
   trainer (run_write.c), reading side for verify, analyzers and reports (run_read.c). */
#ifndef HU_STORE_RUN_H
#define HU_STORE_RUN_H

#include "lib/base/tsv.h"
#include "lib/program/program.h"
#include "lib/store/run_lock.h"

enum { HU_RUN_VERSION = 1 };

/* Writing. */
/* Whether a new run may be made there; HU_EINVAL where something exists, unless it is empty or a
   run that was cut off before it had a manifest. */
hu_status hu_run_may_create(const char *dir);
/* Makes RUN/ and its folders and removes what killed writes left; without RESUME, only where hu_run_may_create. */
hu_status hu_run_create(const char *dir, int resume);
hu_status hu_run_write_json(const char *dir, const char *name, const json_t *j);
hu_status hu_run_write_program(const char *dir, const hu_program *p);   /* program-NAME.json */
/* trace/step-NNNNNN.safetensors: the tensors T[i] with SELECT[i] set (NULL: all), packed in their formats. */
hu_status hu_run_write_trace(const char *dir, size_t step, const hu_program *p, const hu_tensor *t, const char *select);
/* checkpoint/step-NNNNNN.safetensors: the state before that step, META as JSON text under the key "meta". */
hu_status hu_run_write_checkpoint(
	const char *dir, size_t step, const hu_program *p, const hu_tensor *t, const json_t *meta);

/* Bytes that a trace of the selected tensors takes, header aside. */
double hu_run_trace_bytes(const hu_program *p, const char *select);
/* Sets FILES[NAME] to {bytes, xxh3} of the file DIR/NAME: what hu_run_open checks. A file
   without an entry is not checked. */
hu_status hu_run_add_file(const char *dir, const char *name, json_t *files);
/* "xxh3" of a file: 16 hex digits of XXH3's 64-bit hash. HU_EFILE where it cannot be read. */
hu_status hu_run_checksum(const char *path, double *bytes, char hex[17]);

/* Reading. */
typedef struct hu_run {
	char *dir;
	json_t *manifest;
	hu_program *train, *eval;   /* eval may be NULL */
	size_t *step;               /* traced steps, ascending */
	int nstep;
	char xxh3[17];              /* of manifest.json */
	hu_run_lock lock;
} hu_run;

/* HU_EFILE: no such run, a manifest of a newer version, a file whose length or checksum is not the manifest's. HU_EIO:
   it is being trained; as long as it is open here, nobody trains it. */
hu_status hu_run_open(hu_run *r, const char *dir);
/* HU_EFILE where MANIFEST, read from PATH, is of no version that this program reads. */
hu_status hu_run_check_version(const json_t *manifest, const char *path);
/* The same for the process that holds the writer's lock. */
hu_status hu_run_open_own(hu_run *r, const char *dir);
void hu_run_release(hu_run *r);
/* HU_EFILE unless the training was finished: its manifest says so last of all, once every other file is whole. */
hu_status hu_run_finished(const hu_run *r);

/* Tensors of a traced step by id of r->train; t[i].data is NULL where not recorded. Values are
   unpacked into memory of their own; every recorded tensor's dtype and shape is checked. */
hu_status hu_run_load_trace(const hu_run *r, size_t step, hu_tensor **t);
void hu_run_free_trace(const hu_run *r, hu_tensor *t);
/* Steps S of the files DIR/FOLDER/step-S.safetensors, ascending; *steps freed by the caller. */
int hu_run_list_steps(const char *dir, const char *folder, size_t **steps);
/* The newest checkpoint (or that of STEP): state tensors into T (allocated by the caller, matched by name), its
   metadata in *meta. */
hu_status hu_run_load_checkpoint(const char *dir, long step, const hu_program *p, hu_tensor *t, json_t **meta);
/* Values of an array in the dtype hu_run_dtype names, BYTES long, to a tensor's memory; HU_EFILE where the length is
   wrong. */
hu_status hu_run_unpack(hu_tensor *t, const void *codes, size_t bytes);
/* The safetensors dtype a format is stored in: the smallest that holds all its values, in *STORED as a format. */
const char *hu_run_dtype(hu_format_id f, hu_format_id *stored);
/* Leading provenance lines of an analysis table: version, run, its manifest's checksum, seed, policy, back end,
   machine, command. */
#define HU_RUN_MANIFEST_NOTE "manifest xxh3"
void hu_run_provenance(const hu_run *r, hu_tsv *t, const char *table);
#endif
