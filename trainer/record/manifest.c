/* SPDX-License-Identifier: Apache-2.0 */
#include "trainer/record/manifest.h"

#include "cuda/cublas/cublas.h"
#include "lib/base/build.h"
#include "lib/base/table/fields.h"
#include "lib/base/thread.h"
#include "lib/number/simd.h"
#include "lib/store/run.h"
#include "trainer/ranked/ranked.h"
#include "trainer/record/machine.h"
#include "trainer/record/manifest_parts.h"

/* The step since which rows are counted: the one that the manifest has already, else `from`. */
static size_t
read_since(const json_t *manifest, size_t from)
{
	const json_t *read = json_object_get(json_object_get(manifest, "dataset"), "read"),
		     *step = json_object_get(read, "from_step");

	return step ? (size_t)json_integer_value(step) : from;
}

static void
put_read(json_t *manifest, size_t from, size_t rows, uint64_t digest)
{
	if (rows)
		json_object_set_new(
			json_object_get(manifest, "dataset"), "read", hu_manifest_rows(from, rows, digest));
}

hu_status
hu_manifest_read(json_t *manifest, hu_session *s, size_t from, size_t to, int evaluated)
{
	uint64_t digest;
	size_t rows;

	from = read_since(manifest, from);
	HU_TRY(hu_ranked_read_rows(s, from, to, evaluated, &rows, &digest));
	put_read(manifest, from, rows, digest);
	return HU_OK;
}

static json_t *
steps(const hu_record *r)
{
	json_t *a = json_array();

	for (int i = 0; i < r->ntrace; i++)
		json_array_append_new(a, json_integer((json_int_t)r->trace_step[i]));
	return a;
}

hu_status
hu_manifest_recall(const json_t *manifest)
{
	json_t *lines = json_object_get(json_object_get(manifest, "gemm"), "algorithms");

	for (size_t i = 0; i < json_array_size(lines); i++) {
		const char *line = json_string_value(json_array_get(lines, i));
		if (!line || hu_cublas_recall(line) != HU_OK)
			return hu_fail(HU_EFILE,
				"manifest.json: gemm: algorithms: line %zu names no algorithm of cuBLASLt: say gemm=",
				i + 1);
	}
	return HU_OK;
}

/* The manifest. */
typedef struct manifest_row {
	const char *halfulp, *model, *backend, *device, *host, *compiler, *simd, *accumulate;
	int version, threads, finished;
	long long seed, steps, per_epoch, epochs, batch, parameters, done;
	double loss_weight, trace_bytes;
	json_t *command, *policy, *dataset, *config, *gemm, *ranks;
	json_t *scaling, *optimizer, *memory, *traced, *files;
} manifest_row;

enum { PRODUCTS = 1, RANKS = 2 };

#define MANIFEST(name, kind, member, means, ...)                                                                       \
	HU_FIELD_OF(manifest_row, name, kind, member, WRITTEN, means, __VA_ARGS__)
static const hu_table_field manifest_field[] = {
	MANIFEST("run_version", INT, version, "the version of run directories"),
	MANIFEST("halfulp_version", TEXT, halfulp, "the version of the program"),
	MANIFEST("command", JSON, command, "the words of the line that was typed"),
	MANIFEST("seed", COUNT, seed, "the seed"),
	MANIFEST("model", TEXT, model, "the model"),
	MANIFEST("policy", JSON, policy, "the policy"),
	MANIFEST("dataset", JSON, dataset, "the data"),
	MANIFEST("config", JSON, config, "all settings"),
	MANIFEST("backend", TEXT, backend, "the back end"),
	MANIFEST("gemm", JSON, gemm, "what computes each product", .only = PRODUCTS),
	MANIFEST("device", TEXT, device, "the processor"),
	MANIFEST("host", TEXT, host, "the system"),
	MANIFEST("compiler", TEXT, compiler, "the compiler of the program"),
	MANIFEST("simd", TEXT, simd, "the instruction set"),
	MANIFEST("threads", INT, threads, "how many threads there are"),
	MANIFEST("ranks", JSON, ranks, "who shares the work", .only = RANKS),
	MANIFEST("steps", COUNT, steps, "how many steps there will be"),
	MANIFEST("steps_per_epoch", COUNT, per_epoch, "how many an epoch has"),
	MANIFEST("epochs", COUNT, epochs, "how many epochs there are, a part of one counted as one"),
	MANIFEST("batch", COUNT, batch, "samples in a batch"),
	MANIFEST("loss_scaling", JSON, scaling, "the loss scaling"),
	MANIFEST("loss_weight", REAL, loss_weight, "what the loss is multiplied by"),
	MANIFEST("accumulate", TEXT, accumulate, "the summation model of products"),
	MANIFEST("optimizer", JSON, optimizer, "the optimizer"),
	MANIFEST("parameters", COUNT, parameters, "how many weights there are"),
	MANIFEST("memory_bytes", JSON, memory, "the memory of each category"),
	MANIFEST("trace_steps", JSON, traced, "the steps that are traced"),
	MANIFEST("trace_bytes", REAL, trace_bytes, "the size of all traces"),
	MANIFEST("finished", FLAG, finished, "whether the last step was made"),
	MANIFEST("steps_done", COUNT, done, "how many steps were made"),
	MANIFEST("files", JSON, files, "the length and checksum of each file"),
};

json_t *
hu_manifest_new(const hu_session *s, const hu_record *r, const json_t *command)
{
	const hu_config *c = s->config;
	hu_memory m = hu_memory_of(s->programs.train);
	hu_fields table = HU_FIELDS(manifest_field, manifest_row);
	manifest_row row = {
		.halfulp = hu_build_version(),
		.model = c->model,
		.backend = s->backend->name,
		.device = hu_machine_processor(),
		.host = hu_machine_system(),
		.compiler = hu_build_compiler(),
		.simd = hu_simd_name(),
		.accumulate = c->accumulate         ? c->accumulate
			      : *c->policy.accumulate ? c->policy.accumulate
						      : "fma,acc=fp32",
		.version = HU_RUN_VERSION,
		.threads = hu_threads(),
		.steps = (long long)s->steps,
		.per_epoch = (long long)s->steps_per_epoch,
		.epochs = (long long)((s->steps + s->steps_per_epoch - 1) / s->steps_per_epoch),
		.batch = (long long)c->batch,
		.parameters = (long long)hu_parameters(s->programs.train),
		.loss_weight = c->loss_weight,
		.trace_bytes = r->trace_bytes,
		.command = json_incref((json_t *)command),
		.seed = (long long)c->seed,
		.policy = hu_policy_to_json(&c->policy),
		.dataset = hu_manifest_dataset(&s->data),
		.config = hu_config_to_json(c),
		.gemm = hu_manifest_products(s),
		.ranks = hu_ranked_json(s),
		.scaling = hu_manifest_scaling(&c->scaling.rule),
		.optimizer = hu_manifest_optimizer(&c->optim),
		.memory = hu_memory_to_json(&m),
		.traced = steps(r),
		.files = json_object(),
	};

	table.with = (row.gemm ? PRODUCTS : 0) | (row.ranks ? RANKS : 0);
	return hu_fields_object(&table, &row);
}
