/* SPDX-License-Identifier: Apache-2.0
   halfulp inspect FILE: measures what each format would do to the tensors of a file. What that means for a model cannot
   be told from weights alone. */
#include "analyzers/formats/inspect_table.h"
#include "lib/base/build.h"
#include "lib/base/mem.h"
#include "lib/base/console/opt.h"

#include <stdio.h>
#include <stdlib.h>

static const hu_opt opts[] = { { "to", "FORMATS", "fp16,bf16,e4m3",
				       "formats to cast to, to nearest even; only block formats scale" },
	{ "tsv", "FILE", NULL, "write the rows to FILE too" }, { "json", NULL, NULL, "print an array of rows" },
	{ NULL, NULL, NULL, NULL } };

/* Returns a row for each tensor and format, freed by the caller; `out` counts the tensors that hold no floating-point
   numbers. */
static hu_inspect_row *
judge(const hu_foreign *s, const hu_target *to, int nto, size_t *n, size_t *out)
{
	hu_inspect_row *row = hu_xcalloc(s->n * (size_t)nto + 1, sizeof *row);

	*n = *out = 0;
	for (size_t i = 0; i < s->n; i++) {
		if (s->array[i].format == HU_NO_FORMAT) {
			++*out;
			continue;
		}
		for (int k = 0; k < nto; k++) {
			row[*n] = (hu_inspect_row){ .a = &s->array[i], .to = &to[k] };
			hu_cast_judge(&row[*n].e, row[*n].a, row[*n].to);
			++*n;
		}
	}
	return row;
}

static hu_status
save(const char *path, const char *file, const char *left, const char *note, const hu_inspect_row *row, size_t n)
{
	hu_tsv t;

	hu_tsv_init(&t);
	hu_tsv_note(&t, "table", "inspect");
	hu_tsv_note(&t, "halfulp", "%s", hu_build_version());
	hu_tsv_note(&t, "file", "%s", file);
	hu_tsv_note(&t, "note", "%s", note);
	if (*left)
		hu_tsv_note(&t, "left out", "%s", left);
	hu_inspect_tsv(&t, row, n);
	return hu_tsv_write(&t, path);
}

static int
run(const hu_args *a)
{
	hu_target to[HU_FORMATS];
	const char *tsv = hu_args_text(a, "tsv"), *note;
	char left[128] = "";
	int nto, json = hu_args_given(a, "json");
	size_t n, out;
	hu_foreign s;
	hu_status st = hu_target_list(hu_args_text(a, "to"), to, HU_FORMATS, &nto);

	if (st == HU_OK && a->nrest != 1)
		st = hu_fail(
			HU_EINVAL, "one file is needed: halfulp inspect FILE.safetensors|FILE.npy|FILE.npz|MODEL.onnx");
	if (st != HU_OK || (st = hu_foreign_open(&s, a->rest[0])) != HU_OK)
		return hu_complain(st);
	hu_inspect_row *row = judge(&s, to, nto, &n, &out);
	note = s.activations ? "a trace: weights, activations and gradients of one step"
			     : "weights only: activations not judged";
	if (out)
		snprintf(left, sizeof left,
			out == 1 ? "%zu tensor holds no floating-point numbers and was left out"
				 : "%zu tensors hold no floating-point numbers and were left out",
			out);
	if (json)
		hu_inspect_print_json(row, n, note);
	else
		hu_inspect_print(row, n);
	if (out)
		fprintf(json ? stderr : stdout, "%s\n", left);
	if (!json)
		puts(note);
	if (tsv)
		st = save(tsv, a->rest[0], left, note, row, n);
	free(row);
	hu_foreign_release(&s);
	return st == HU_OK ? HU_EXIT_OK : hu_complain(st);
}

const hu_command hu_cmd_inspect = { "inspect", "[OPTION...] FILE.safetensors|FILE.npy|FILE.npz|MODEL.onnx",
	"count and measure what casts to number formats do to a file's tensors",
	"Casts every floating-point tensor to each format, to nearest even and without scaling. Counts:\n"
	"nonfinite, elements that are infinite or NaN before the cast; elements that become zero, or subnormal;\n"
	"lost bits, elements below the smallest normal number that the cast changes; ftz, elements that become\n"
	"zero on hardware that flushes subnormals; overflow, finite elements that become infinite or NaN;\n"
	"saturated, elements that become the largest finite value in place of a larger one, or 0 in place of a\n"
	"negative one where the format has no sign.\n"
	"Errors are over the elements that are finite before and after: rel_l2 is the L2 norm of the errors over\n"
	"that of the values; sqnr_db is -20 log10 of it; max_error is the largest |error|, and at says at which\n"
	"element, counted from 0 in row-major order; mean_error is the mean |error|; l2_zeroed is the L2 norm of\n"
	"what becomes zero over that of the values; cosine is that of the values before and after.\n"
	"For Adam's second moments v (NAME_v, NAME.exp_avg_sq, ...), step_rel_l2 is the relative L2 error of the\n"
	"steps g / (sqrt(v) + 1e-8) with g = sqrt(v). What does not apply or is undefined is \"-\". Weights alone\n"
	"decide nothing about a model: only running it tells whether its answers change.\n"
	"A block format (mxfp8, mxfp4, nvfp4, int8, int4x128, ...) takes a tensor in fp32, scales blocks along\n"
	"its last axis (the last block of a row may be short; int8 and its like scale the whole tensor), and\n"
	"saturates. Weights of an ONNX model's Conv, ConvTranspose, Gemm and MatMul are scaled along the axis over\n"
	"which the product sums, as deployment does: the column axis says which, counted from 0 (a Conv also sums\n"
	"over the axes after it). Subnormal and lost bits are those of the elements under their scale, - where\n"
	"elements are integers. A NaN or an infinity makes its whole block NaN: the block's finite values are\n"
	"counted under overflow.",
	opts, run, NULL };
