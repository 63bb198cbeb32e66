/* SPDX-License-Identifier: Apache-2.0
   The documents that gate writes to files, -o KIND=FILE, beside what it prints: their kinds, and how one says that
   nothing was judged. */
#ifndef HU_DRIFT_GATE_DOCUMENTS_H
#define HU_DRIFT_GATE_DOCUMENTS_H

#include "lib/base/console/opt.h"

#include <stdio.h>

/* What -o calls a document, and which of check's formats it has. */
typedef struct hu_gate_document {
	const char *kind, *format;
} hu_gate_document;

enum { HU_GATE_DOCUMENTS = 5 };

extern const hu_gate_document hu_gate_documents[HU_GATE_DOCUMENTS];
extern const hu_gate_document *const hu_gate_summary; /* the one that is appended to its file */

/* Returns the file that -o names for the document, the last where it is named several times; NULL where none is. */
const char *hu_gate_document_path(const hu_args *a, const hu_gate_document *d);
/* Refuses a -o that names no kind of document, and files that cannot be written, which is found before hours of
   training. Nothing is changed in them. */
hu_status hu_gate_documents_check(const hu_args *a);
hu_status hu_gate_document_put(const hu_args *a, const hu_gate_document *d, const char *text, size_t n);

/* Writes a whole document that says that nothing was judged of the run, and why. */
void hu_gate_refuse(FILE *out, const char *run, const char *reason, const char *format);
/* Does so in every document that goes to a file. Returns CODE, or that of a document that cannot be written. REASON is
   no string of hu_reason's. */
int hu_gate_documents_refuse(const hu_args *a, const char *run, int code, const char *reason);
#endif
