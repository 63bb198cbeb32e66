/* SPDX-License-Identifier: Apache-2.0
   Reads how gradients are added over ranks. */
#include "lib/base/console/opt.h"
#include "lib/base/mem.h"
#include "lib/base/str.h"
#include "lib/program/pass/pass.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Returns 1 where one of the keys of a model's text is acc. */
static int
names_acc(const char *text)
{
	for (const char *key = strchr(text, ','); key; key = strchr(key + 1, ','))
		if (!strncmp(key, ",acc=", 5))
			return 1;
	return 0;
}

/* Takes the key scale out of a model's text, which is cut there and joined again, and reads its value. */
static hu_status
take_scale(char *text, double *scale)
{
	char *key = strstr(text, ",scale="), *end;
	int exponent;

	*scale = 1;
	if (!key)
		return HU_OK;
	end = key + 7 + strcspn(key + 7, ",");
	char *value = hu_xprintf("%.*s", (int)(end - key - 7), key + 7);
	int good = hu_parse_real(value, scale) && *scale > 0 && frexp(*scale, &exponent) == 0.5 && exponent > -96 &&
		exponent <= 97;
	memmove(key, end, strlen(end) + 1);
	if (!good)
		hu_fail(HU_EINVAL, "scale=%s: a power of two from 2^-96 to 2^96 is needed", value);
	free(value);
	return good ? HU_OK : HU_EINVAL;
}

/* Takes the word feedback out of a model's text. Returns whether it was there. */
static int
take_feedback(char *text)
{
	static const char word[] = ",feedback";
	char *at = text;

	while ((at = strstr(at, word)) && at[sizeof word - 1] && at[sizeof word - 1] != ',')
		at++;
	if (at)
		memmove(at, at + sizeof word - 1, strlen(at + sizeof word - 1) + 1);
	return at != NULL;
}

/* Reads what follows nccl. */
static hu_status
parse_library(const char *rest, int here, hu_all_reduce *out)
{
	char ring[32], more;
	int n = here;

	if (*rest && (sscanf(rest, ":%d%c", &n, &more) != 1 || n < 2))
		return hu_fail(HU_EINVAL,
			"nccl:N takes the number of ranks alone, two or more: NCCL chooses order and accumulator "
			"itself, and sends the gradient's own format");
	if (n < 2)
		return hu_fail(HU_EINVAL,
			"NCCL adds what the ranks have that mpirun started, and here is one; start them, or say nccl:N "
			"for what N would do");
	snprintf(ring, sizeof ring, "ring:%d", n);
	HU_TRY(hu_sum_parse(ring, &out->sum));
	out->ranks = n;
	out->library = 1;
	return HU_OK;
}

hu_status
hu_all_reduce_parse(const char *text, int here, hu_all_reduce *out)
{
	memset(out, 0, sizeof *out);
	out->scale = 1;
	if (!strcmp(text, "tree"))
		return HU_OK;
	if (!strncmp(text, "nccl", 4) && (!text[4] || text[4] == ':'))
		return parse_library(text + 4, here, out);
	char *model = hu_xstrdup(text);
	out->feedback = take_feedback(model);
	hu_status st = take_scale(model, &out->scale);
	if (st == HU_OK)
		st = hu_sum_parse(model, &out->sum);
	free(model);
	HU_TRY(st);
	if (!hu_sum_collective(out->sum.id))
		return hu_fail(HU_EINVAL,
			"%s adds no sums of several ranks; ring:N, tree:N, halving:N, hier:N:G, nccl or tree is needed",
			hu_sum_name(out->sum.id));
	if (out->sum.n < 2)
		return hu_fail(HU_EINVAL, "%s:%d: there is nothing to add where there is one rank; say two or more",
			hu_sum_name(out->sum.id), out->sum.n);
	if (out->feedback && out->sum.outer == HU_NO_FORMAT)
		return hu_fail(HU_EINVAL,
			"feedback keeps what the cast to the wire loses, and without wire= gradients are sent in "
			"their own format: name a shorter one, as in ring:8,wire=e4m3,scale=2^8,feedback");
	out->ranks = out->sum.n;
	out->own_acc = names_acc(text);
	return HU_OK;
}
