/* SPDX-License-Identifier: Apache-2.0
   The run directory, through which the trainer, verify, the analyzers and the reports communicate (doc/formats.md).
   run_write.c writes it for the trainer, run_read.c reads it. */
#ifndef HU_STORE_RUN_H
#define HU_STORE_RUN_H

#include "lib/base/tsv.h"
#include "lib/program/program.h"
#include "lib/store/run_lock.h"

enum { HU_RUN_VERSION = 1 };

/* Writing. */
/* Whether a new run may be made in dir. HU_EINVAL if something exists there other than an empty folder or a run that
   was cut off before it had a manifest. */
hu_status hu_run_may_create(const char *dir);
/* Makes dir and its folders and removes files that killed processes left half-written. Unless resume is set, it needs
   what hu_run_may_create checks. */
hu_status hu_run_create(const char *dir, int resume);
hu_status hu_run_write_json(const char *dir, const char *name, const json_t *j);
hu_status hu_run_write_program(const char *dir, const hu_program *p);   /* writes program-NAME.json */
/* Writes trace/step-NNNNNN.safetensors: the tensors t[i] with select[i] set (NULL: all), packed in their formats. */
hu_status hu_run_write_trace(const char *dir, size_t step, const hu_program *p, const hu_tensor *t, const char *select);
/* Writes checkpoint/step-NNNNNN.safetensors: the state before that step, and meta as JSON text under the key "meta". */
hu_status hu_run_write_checkpoint(
	const char *dir, size_t step, const hu_program *p, const hu_tensor *t, const json_t *meta);

/* Bytes that a trace of the selected tensors takes without its header. */
double hu_run_trace_bytes(const hu_program *p, const char *select);
/* Sets files[name] to {bytes, xxh3} of the file dir/name, which hu_run_open checks, and of a trace or checkpoint also
   to {header}, the hash of the header, which has those of the tensors. A file without an entry is not checked. */
hu_status hu_run_add_file(const char *dir, const char *name, json_t *files);
/* XXH3's 64-bit hash of a file as 16 hexadecimal digits, and its size in bytes. HU_EFILE if it cannot be read. */
hu_status hu_run_checksum(const char *path, double *bytes, char hex[17]);
/* The same of what a safetensors file has before its tensors: the length of the header and the header. */
hu_status hu_run_checksum_header(const char *path, double *bytes, char hex[17]);

/* Reading. */
typedef struct hu_run {
	char *dir;
	json_t *manifest;
	hu_program *train, *eval;   /* eval may be NULL */
	size_t *step;               /* traced steps, ascending */
	int nstep;
	char *tensors;              /* file of the one step; NULL: the folder trace has them */
	char xxh3[17];              /* of manifest.json; without one, of the program's file and of tensors together */
	hu_run_lock lock;
	struct hu_run_check *check; /* private: what was compared with checksums; NULL without a manifest */
} hu_run;

/* Fails with HU_EFILE and says why there is no run in dir that can be judged, and what to do. */
hu_status hu_run_absent(const char *dir);
/* Whether dir holds no run itself, but one of each rank. */
int hu_run_is_of_ranks(const char *dir);
/* Opens a run for reading; while it is open, nobody can train it. HU_EFILE: there is no such run, its manifest is of a
   newer version, or a file's length or checksum differs from the manifest's. HU_EIO: it is being trained. */
hu_status hu_run_open(hu_run *r, const char *dir);
/* The same for one of several processes that share the work. Only the programs are compared with the manifest here;
   a traced step's file as far as it is read: length and header by hu_run_map_trace, each tensor by hu_run_trace_need.
   The other files are for hu_run_check_rest and hu_run_check_file (lib/store/run_check.h). Where the manifest of an
   older run has no checksum of a step's header, its file is compared as a whole once it is mapped. */
hu_status hu_run_open_shared(hu_run *r, const char *dir);
/* Opens a program and the tensors of one step of it, step 0, as a run whose tables are written to dir, which is made.
   Other than a folder it has no manifest, no metrics and no lock; *lacks gets a sentence on what is missing. HU_EFILE
   where a file cannot be read, where a tensor is not the program's, or where no call has all its tensors. */
hu_status hu_run_open_files(hu_run *r, const char *program, const char *tensors, const char *dir, hu_str *lacks);
/* Reads a program from a JSON file, whose names are plain text. */
hu_status hu_run_read_program(const char *path, hu_program **out);
/* HU_EFILE if the version of manifest, read from path, is one that this program cannot read. */
hu_status hu_run_check_version(const json_t *manifest, const char *path);
/* As hu_run_open, or, where shared is set, as hu_run_open_shared, for processes of which one holds the writer's
   lock. */
hu_status hu_run_open_own(hu_run *r, const char *dir, int shared);
void hu_run_release(hu_run *r);
/* HU_EFILE unless the training finished. The manifest says so last of all, after every other file is complete. */
hu_status hu_run_finished(const hu_run *r);

/* Loads the tensors of a traced step, by id of r->train; t[i].data is NULL if tensor i was not recorded. Values are
   unpacked into memory of their own; every recorded tensor's dtype and shape is checked. */
hu_status hu_run_load_trace(const hu_run *r, size_t step, hu_tensor **t);
void hu_run_free_trace(const hu_run *r, hu_tensor *t);
/* The path of a traced step's file, which the caller frees. */
char *hu_run_trace_path(const hu_run *r, size_t step);
/* Lists the *n steps S of the files dir/folder/step-S.safetensors in ascending order; the caller frees *steps. There
   are none where the folder is not there; where it cannot be read that is a failure, and *n is 0. */
hu_status hu_run_list_steps(const char *dir, const char *folder, size_t **steps, int *n);
/* Reads the checkpoint of a step, or the newest if step is negative: state tensors go to t (allocated by the caller,
   matched by name), the metadata to *meta. */
hu_status hu_run_load_checkpoint(const char *dir, long step, const hu_program *p, hu_tensor *t, json_t **meta);
/* The same to new memory: *t has a tensor for each of p, without data where it is no state; hu_run_free_state frees it.
   Nothing is to be freed where it fails. */
hu_status hu_run_read_state(const hu_run *r, const hu_program *p, long step, hu_tensor **t);
void hu_run_free_state(const hu_program *p, hu_tensor *t);
/* Unpacks an array's values, bytes long, from the dtype that hu_run_dtype names into a tensor's memory; HU_EFILE if the
   length is wrong. */
hu_status hu_run_unpack(hu_tensor *t, const void *codes, size_t bytes);
/* The safetensors dtype that a format is stored in: the smallest that holds all its values; *stored gets it as a
   format. */
const char *hu_run_dtype(hu_format_id f, hu_format_id *stored);
/* Writes the first lines of an analysis table, which say where it comes from: version, run, the manifest's checksum,
   seed, policy, back end, machine, command. */
#define HU_RUN_MANIFEST_NOTE "manifest xxh3"
/* The key of the line that has the run's checksum: the manifest's, or that of a program and its tensors. */
const char *hu_run_note(const hu_run *r);
void hu_run_provenance(const hu_run *r, hu_tsv *t, const char *table);
#endif
