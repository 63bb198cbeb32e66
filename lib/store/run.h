/* SPDX-License-Identifier: Apache-2.0
   The run directory, where the stages meet (doc/formats.md). Writing side for the
   trainer, reading side for verify, analyzers and reports. */
#ifndef HU_STORE_RUN_H
#define HU_STORE_RUN_H

#include "lib/base/tsv.h"
#include "lib/program/program.h"

enum { HU_RUN_VERSION = 1 };

/* Writing. */
/* Makes RUN/ and its folders; HU_EINVAL where it exists already and RESUME is not set. */
hu_status hu_run_create(const char *dir, int resume);
hu_status hu_run_write_json(const char *dir, const char *name, const json_t *j);
hu_status hu_run_write_program(const char *dir, const hu_program *p);   /* program-NAME.json */
/* trace/step-NNNNNN.safetensors: the tensors T[i] with SELECT[i] set (NULL: all), packed in their formats. */
hu_status hu_run_write_trace(const char *dir, size_t step, const hu_program *p, const hu_tensor *t, const char *select);
/* checkpoint/step-NNNNNN.safetensors: state tensors, with META's strings in __metadata__. */
hu_status hu_run_write_checkpoint(const char *dir, size_t step, const hu_program *p, const hu_tensor *t, const json_t *meta);

/* Reading. */
typedef struct hu_run {
	char *dir;
	json_t *manifest;
	hu_program *train, *eval;   /* eval may be NULL */
	size_t *step;               /* traced steps, ascending */
	int nstep;
} hu_run;

/* HU_EFILE: no such run, a manifest of a newer version, a file whose length or checksum is not the manifest's. */
hu_status hu_run_open(hu_run *r, const char *dir);
void hu_run_release(hu_run *r);

/* Tensors of a traced step by id of r->train; t[i].data is NULL where not recorded. Values are
   unpacked into memory of their own; every recorded tensor's dtype and shape is checked. */
hu_status hu_run_load_trace(const hu_run *r, size_t step, hu_tensor **t);
void hu_run_free_trace(const hu_run *r, hu_tensor *t);
/* The newest checkpoint (or that of STEP): state tensors into T (allocated by the caller, matched by name), its metadata in *meta. */
hu_status hu_run_load_checkpoint(const char *dir, long step, const hu_program *p, hu_tensor *t, json_t **meta);
/* Values of a safetensors entry or code array to a tensor's memory. */
hu_status hu_run_unpack(hu_tensor *t, const void *codes, size_t bytes);
/* Leading provenance lines of an analysis table: version, run, seed, policy, back end, machine, command. */
void hu_run_provenance(const hu_run *r, hu_tsv *t, const char *table);
#endif
