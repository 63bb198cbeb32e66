/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzers/drift/gate_documents.h"

#include "analyzers/drift/gate_append.h"
#include "analyzers/drift/outcome/outcome.h"
#include "lib/base/file.h"
#include "lib/base/mem.h"
#include "lib/base/show.h"

#include <stdlib.h>
#include <string.h>

const hu_gate_document hu_gate_documents[HU_GATE_DOCUMENTS] = { { "junit", "junit" }, { "tap", "tap" },
	{ "gitlab", "gitlab" }, { "sarif", "sarif" }, { "summary", "markdown" } };

const hu_gate_document *const hu_gate_summary = &hu_gate_documents[HU_GATE_DOCUMENTS - 1];

/* Returns the file that the word KIND=FILE names for the document; NULL where it is of another. */
static const char *
file_of(const hu_gate_document *d, const char *word)
{
	size_t n = strlen(d->kind);

	return !strncmp(word, d->kind, n) && word[n] == '=' && word[n + 1] ? word + n + 1 : NULL;
}

const char *
hu_gate_document_path(const hu_args *a, const hu_gate_document *d)
{
	const char *path = NULL, *word;

	for (int k = 0; (word = hu_args_nth(a, "out", k)); k++)
		path = file_of(d, word) ? file_of(d, word) : path;
	return path;
}

static hu_status
check_kinds(const hu_args *a)
{
	const char *word;

	for (int k = 0; (word = hu_args_nth(a, "out", k)); k++) {
		int known = 0;
		for (int i = 0; i < HU_GATE_DOCUMENTS; i++)
			known |= file_of(&hu_gate_documents[i], word) != NULL;
		if (!known)
			return hu_fail(HU_EINVAL,
				"-o %s: KIND=FILE is needed, with junit, tap, gitlab, sarif or summary as KIND",
				hu_shown(word));
	}
	return HU_OK;
}

hu_status
hu_gate_documents_check(const hu_args *a)
{
	HU_TRY(check_kinds(a));
	for (int i = 0; i < HU_GATE_DOCUMENTS; i++) {
		const char *path = hu_gate_document_path(a, &hu_gate_documents[i]);
		hu_outfile o;
		if (!path)
			continue;
		if (&hu_gate_documents[i] == hu_gate_summary) {
			HU_TRY(hu_gate_append(path, "", 0));
			continue;
		}
		HU_TRY(hu_outfile_open(&o, path));
		hu_outfile_abandon(&o);
	}
	return HU_OK;
}

hu_status
hu_gate_document_put(const hu_args *a, const hu_gate_document *d, const char *text, size_t n)
{
	const char *path = hu_gate_document_path(a, d);

	return d == hu_gate_summary ? hu_gate_append(path, text, n) : hu_file_write(path, text, n);
}

void
hu_gate_refuse(FILE *out, const char *run, const char *reason, const char *format)
{
	hu_outcomes v;

	hu_outcomes_refuse(&v, "halfulp gate", run, reason);
	hu_outcomes_writer_find(format)(out, &v);
	hu_outcomes_release(&v);
}

/* Complains in one line of what cannot be written: FIRST says of one document why, and OTHERS are counted. */
static int
complain(const char *first, int others)
{
	if (!others)
		return hu_complain(hu_fail(HU_EIO, "%s", first));
	return hu_complain(
		hu_fail(HU_EIO, "%s; nor can %d other document%s", first, others, others == 1 ? "" : "s"));
}

int
hu_gate_documents_refuse(const hu_args *a, const char *run, int code, const char *reason)
{
	char *first = NULL;
	int failed = 0;

	for (int i = 0; i < HU_GATE_DOCUMENTS; i++) {
		const hu_gate_document *d = &hu_gate_documents[i];
		char *text = NULL;
		size_t n;
		if (!hu_gate_document_path(a, d))
			continue;
		FILE *f = open_memstream(&text, &n);
		HU_ASSERT(f);
		hu_gate_refuse(f, run, reason, d->format);
		fclose(f);
		if (hu_gate_document_put(a, d, text, n) != HU_OK && strcmp(hu_reason(), reason)) { /* not said yet */
			failed++;
			first = first ? first : hu_xstrdup(hu_reason());
		}
		free(text);
	}
	if (first)
		code = complain(first, failed - 1);
	free(first);
	return code;
}
