/* SPDX-License-Identifier: Apache-2.0
   Writes algorithms of cuBLASLt as lines of text and recalls those that a run recorded. The library promises that its
   opaque words remain valid for the same version. A line without "align" is of addresses at multiples of
   CUBLASLT_ALIGN, and one without "batches" of a single product. */
#include "cuda/cublas/cublas.h"

#include "lib/base/mem.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct recorded { hu_cublas_product p; size_t version; hu_cublas_choice choice; } recorded;

static recorded *all;
static size_t n, cap;

void
hu_cublas_print(const hu_cublas_product *p, size_t version, const hu_cublas_choice *c, char *to, size_t size)
{
	char align[24] = "", batches[64] = "";

	if (p->align != CUBLASLT_ALIGN)
		snprintf(align, sizeof align, " align %u", p->align);
	if (p->batches > 1)
		snprintf(batches, sizeof batches, " batches %u steps %u %u %u", p->batches, p->step_a, p->step_b,
			p->step_d);
	int used = snprintf(to, size,
		"m %u n %u k %u lda %u ldb %u ldd %u ta %d tb %d tf32 %d host %d%s%s formats %s %s %s cublasLt %zu "
		"workspace %zu words",
		p->m, p->n, p->k, p->lda, p->ldb, p->ldd, p->ta, p->tb, p->tf32, p->host, align, batches,
		hu_format_name(p->fa), hu_format_name(p->fb), hu_format_name(p->fd), version, c->workspace);

	for (size_t i = 0; i < sizeof c->algo.data / sizeof *c->algo.data && used > 0 && (size_t)used < size; i++)
		used += snprintf(to + used, size - (size_t)used, " %016" PRIx64, c->algo.data[i]);
}

static int
parse(const char *line, recorded *r)
{
	char format[3][24];
	int used = 0, more = 0;
	hu_cublas_product *p = &r->p;

	memset(r, 0, sizeof *r);
	p->align = CUBLASLT_ALIGN;
	if (sscanf(line,
		    "m %" SCNu32 " n %" SCNu32 " k %" SCNu32 " lda %" SCNu32 " ldb %" SCNu32 " ldd %" SCNu32
		    " ta %d tb %d tf32 %d host %d%n",
		    &p->m, &p->n, &p->k, &p->lda, &p->ldb, &p->ldd, &p->ta, &p->tb, &p->tf32, &p->host, &used) != 10)
		return 0;
	if (sscanf(line + used, " align %" SCNu32 "%n", &p->align, &more) == 1)
		used += more;
	if (sscanf(line + used, " batches %" SCNu32 " steps %" SCNu32 " %" SCNu32 " %" SCNu32 "%n", &p->batches,
		    &p->step_a, &p->step_b, &p->step_d, &more) == 4)
		used += more;
	more = 0;
	if (sscanf(line + used, " formats %23s %23s %23s cublasLt %zu workspace %zu words%n", format[0], format[1],
		    format[2], &r->version, &r->choice.workspace, &more) != 5 ||
		!more)
		return 0;
	used += more;
	if (hu_format_find(format[0], &p->fa) != HU_OK || hu_format_find(format[1], &p->fb) != HU_OK ||
		hu_format_find(format[2], &p->fd) != HU_OK)
		return 0;
	for (size_t i = 0; i < sizeof r->choice.algo.data / sizeof *r->choice.algo.data; i++) {
		more = 0;
		if (sscanf(line + used, " %16" SCNx64 "%n", &r->choice.algo.data[i], &more) != 1)
			return 0;
		used += more;
	}
	return !line[used];
}

hu_status
hu_cublas_recall(const char *line)
{
	recorded r;

	if (!line) {
		free(all);
		all = NULL;
		n = cap = 0;
		return HU_OK;
	}
	if (!parse(line, &r))
		return hu_fail(
			HU_EFILE, "'%.60s%s' names no algorithm of cuBLASLt", line, strlen(line) > 60 ? "..." : "");
	if (n == cap) {
		cap = cap ? 2 * cap : 16;
		all = hu_xrealloc(all, cap * sizeof *all);
	}
	all[n++] = r;
	return HU_OK;
}

int
hu_cublas_recalled(const hu_cublas_product *p, size_t *version, hu_cublas_choice *choice)
{
	for (size_t i = 0; i < n; i++)
		if (!memcmp(&all[i].p, p, sizeof *p)) {
			*version = all[i].version;
			*choice = all[i].choice;
			return 1;
		}
	return 0;
}
