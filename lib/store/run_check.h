/* SPDX-License-Identifier: Apache-2.0
   Compares a run's files with their checksums. The manifest's entry of a file has the checksum of all of it, and of a
   trace or checkpoint also that of its header, which has one of each tensor's bytes. Who reads all of a run compares
   whole files; one of several processes compares headers and what tensors it needs. */
#ifndef HU_STORE_RUN_CHECK_H
#define HU_STORE_RUN_CHECK_H

#include "lib/store/run.h"
#include "lib/store/safetensors.h"

/* What a process has compared. shared: the run was opened by hu_run_open_shared. bytes: of all files together.
   tensor[k], of step k of hu_run.step: NULL until that step's file was looked at; then by tensor of the program whether
   it needs no more comparing. */
typedef struct hu_run_check {
	int shared;
	double bytes;
	char **tensor;
} hu_run_check;

void hu_run_check_free(const hu_run *r);

/* The key of a header's __metadata__ under which the checksum of the bytes of tensor `name` stands; the caller frees
   it. */
char *hu_run_check_key(const char *name);
/* Whether the header has a checksum of every tensor. */
int hu_run_check_possible(const hu_safetensors *s);
/* The checksum of n bytes as 16 hexadecimal digits. */
void hu_run_check_sum(const void *bytes, size_t n, char hex[17]);

/* Compares all of the file dir/name with the manifest; does nothing where the manifest does not list it. HU_EFILE says
   what differs, and of a trace or checkpoint which tensor, or that it is the header. */
hu_status hu_run_check_file(const hu_run *r, const char *name);

/* What is compared as a run is opened: all files, of a shared run the programs. */
hu_status hu_run_check_opened(const hu_run *r);

/* For a traced step of a shared run, before its file is opened: compares the file's length and header, or all of it
   where the manifest has no checksum of the header. Does nothing where that was done before, or the run is not
   shared. */
hu_status hu_run_check_step(const hu_run *r, size_t step);
/* Once that file is mapped: tells the kernel that a process of a shared run reads only some of it. */
void hu_run_check_mapped(const hu_run *r, const hu_safetensors *s);
/* Then for tensor id of it, which s has as e: compares its bytes, unless that was done before. Not for several threads
   at once. */
hu_status hu_run_check_tensor(const hu_run *r, size_t step, const hu_safetensors *s, const hu_stensor *e, int id);

/* Compares the files of a shared run that neither opening it nor mapping its steps step[0] to step[n-1], ascending,
   compares. `of` processes compare one of the other steps and of the checkpoints after the other; this is number
   `share`, from 0, and tables are number 0's, which reads them. */
hu_status hu_run_check_rest(const hu_run *r, const size_t *step, int n, int share, int of);
/* How many bytes of the run's files this process has compared. */
double hu_run_check_bytes(const hu_run *r);
#endif
