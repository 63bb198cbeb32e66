/* SPDX-License-Identifier: Apache-2.0
   ONNX: what a model says is what is read, element types and all, and every way a file can be wrong is told in one
   line. Models are made by t/store/onnx-model.c. */
#include "lib/store/onnx/onnx.h"

#include "lib/base/file.h"
#include "lib/base/mem.h"
#include "t/store/onnx-model.h"
#include "t/tool/tap.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const hu_stensor *
tensor(const hu_onnx *m, const char *name)
{
	for (size_t i = 0; i < m->n; i++)
		if (!strcmp(m->tensor[i]->name, name))
			return m->tensor[i];
	bail_out("no tensor %s", name);
}

static void
takes(hu_onnx *m, const pb_model *from)
{
	size_t n;
	unsigned char *p = pb_pack(from, &n);

	if (!ok(hu_onnx_parse(m, "m.onnx", p, n) == HU_OK, "a valid model: %s", hu_reason()))
		bail_out("nothing to look at");
	free(p);
}

/* FROM is refused with a reason that holds TEXT. */
static void
refuses(const pb_model *from, const char *text, const char *what)
{
	size_t n;
	unsigned char *p = pb_pack(from, &n);
	hu_onnx m;

	ok(hu_onnx_parse(&m, "m.onnx", p, n) == HU_EFILE && strstr(hu_reason(), text) && !strchr(hu_reason(), '\n'),
		"%s: %s", what, hu_reason());
	free(p);
}

static void
sample(void)
{
	static const char *const order[] = { "Constant", "Conv", "Relu", "Reshape", "Gemm", "If" };
	hu_onnx_axis a = { 0 };
	hu_onnx m;

	takes(&m, pb_sample());
	is_int(m.ir, 8, "ir version");
	is_int(hu_onnx_version(&m, ""), 17, "operators' version");
	is_int(hu_onnx_version(&m, "com.microsoft"), 0, "a domain that is not imported");
	is_int((long long)m.graph->nnode, 6, "nodes");
	int place[6];
	for (int i = 0; i < 6; i++)
		for (int k = 0; k < 6; k++)
			place[k] = !strcmp(m.graph->node[i].op, order[k]) ? i : i ? place[k] : -1;
	ok(place[1] < place[2] && place[2] < place[3] && place[0] < place[3] && place[3] < place[4] &&
			place[4] < place[5],
		"nodes follow what they read, also a graph inside them");
	const hu_onnx_node *fc = &m.graph->node[place[4]], *pick = &m.graph->node[place[5]];
	is_int(hu_onnx_int(fc, "transB", 0), 1, "an attribute");
	is_int(hu_onnx_int(fc, "transA", 7), 7, "an attribute that is absent");
	is_int((long long)pick->attr[0].ngraphs, 1, "a graph in an attribute");
	is_text(pick->attr[1].graphs[0]->node[0].in[0], "flat", "its node reads a name around it");
	is_int(m.graph->in[0].rank, 4, "rank of an input");
	is_int(m.graph->in[0].dim[0].n, -1, "a dimension without a size");
	is_text(m.graph->in[0].dim[0].param, "N", "its name");
	is_int(m.graph->in[0].dim[2].n, 3, "one with");
	is_int((long long)m.n, 5, "constant tensors: four initialisers, one Constant");
	const hu_stensor *b = tensor(&m, "fc.b"), *to = tensor(&m, "to");
	is_bits32(((const uint32_t *)b->data)[1], bits_of_float(-1), "float_data");
	is_int(((const int64_t *)to->data)[1], 4, "a Constant's value, by its output's name");
	ok(hu_onnx_axis_of(&a, &m, tensor(&m, "conv.w")) && a.axis == 1 && a.k == 4 && a.inner == 1,
		"a convolution sums over channels and taps");
	ok(hu_onnx_axis_of(&a, &m, tensor(&m, "fc.w")) && a.axis == 1 && a.k == 4 && a.inner == 1 && a.node == fc,
		"Gemm with transB sums over the last axis");
	ok(!hu_onnx_axis_of(&a, &m, b), "a bias is no factor");
	hu_onnx_release(&m);

	pb_model *p = pb_sample();
	p->graph->node[1]->attribute[0]->i = 0;
	takes(&m, p);
	ok(hu_onnx_axis_of(&a, &m, tensor(&m, "fc.w")) && a.axis == 0 && a.k == 2 && a.inner == 4,
		"without it over the first");
	hu_onnx_release(&m);
	p->graph->node[1]->op_type = "MatMul";
	p->graph->node[1]->n_input = 2;
	p->graph->initializer[1]->n_dims = 3;
	p->graph->initializer[1]->dims = (int64_t[]){ 2, 2, 2 };
	takes(&m, p);
	ok(hu_onnx_axis_of(&a, &m, tensor(&m, "fc.w")) && a.axis == 1 && a.k == 2 && a.inner == 2,
		"MatMul over the last but one");
	hu_onnx_release(&m);
}

/* Every element type in raw bytes and in its typed field: the same bytes. */
static void
types(void)
{
	static const struct {
		int type;
		size_t count, raw;
		const char *bytes;
		const char *dtype;
		size_t n;
		int32_t typed[4];
	} row[] = {
		{ HU_ONNX_UINT8, 2, 2, "\xff\x01", "U8", 2, { 255, 1 } },
		{ HU_ONNX_INT8, 2, 2, "\xff\x01", "I8", 2, { -1, 1 } },
		{ HU_ONNX_UINT16, 1, 2, "\xff\xff", "U16", 1, { 65535 } },
		{ HU_ONNX_INT16, 1, 2, "\xfe\xff", "I16", 1, { -2 } },
		{ HU_ONNX_INT32, 1, 4, "\xfe\xff\xff\xff", "I32", 1, { -2 } },
		{ HU_ONNX_BOOL, 3, 3, "\x01\x00\x01", "BOOL", 3, { 1, 0, 1 } },
		{ HU_ONNX_FLOAT16, 2, 4, "\x00\x3c\x00\xbc", "F16", 2, { 0x3c00, 0xbc00 } },
		{ HU_ONNX_BFLOAT16, 1, 2, "\x80\x3f", "BF16", 1, { 0x3f80 } },
		{ HU_ONNX_FLOAT8E4M3FN, 1, 1, "\x7e", "F8_E4M3", 1, { 0x7e } },
		{ HU_ONNX_FLOAT8E4M3FNUZ, 1, 1, "\x80", "F8_E4M3FNUZ", 1, { 0x80 } },
		{ HU_ONNX_FLOAT8E5M2, 1, 1, "\x7b", "F8_E5M2", 1, { 0x7b } },
		{ HU_ONNX_FLOAT8E5M2FNUZ, 1, 1, "\x7f", "F8_E5M2FNUZ", 1, { 0x7f } },
		{ HU_ONNX_FLOAT8E8M0, 1, 1, "\x7f", "F8_E8M0", 1, { 0x7f } },
		{ HU_ONNX_UINT4, 3, 2, "\x21\x0f", "U4", 2, { 0x21, 0x0f } },
		{ HU_ONNX_INT4, 3, 2, "\xf1\x08", "I4", 2, { -15, 8 } },
		{ HU_ONNX_FLOAT4E2M1, 4, 2, "\x21\x43", "F4", 2, { 0x21, 0x43 } },
		{ HU_ONNX_UINT2, 5, 2, "\xe4\x03", "U2", 2, { 0xe4, 3 } },
		{ HU_ONNX_INT2, 4, 1, "\x1b", "I2", 1, { 0x1b } },
		{ HU_ONNX_FLOAT6E2M3, 4, 3, "\x41\x20\x0c", "F6_E2M3", 4, { 1, 1, 2, 3 } },
		{ HU_ONNX_FLOAT6E3M2, 4, 3, "\x41\x20\x0c", "F6_E3M2", 4, { 1, 1, 2, 3 } },
	};

	for (size_t i = 0; i < sizeof row / sizeof *row; i++)
		for (int typed = 0; typed < 2; typed++) {
			pb_model *p = pb_sample();
			pb_tensor *t = pb_tensor_raw("t", row[i].type, typed ? NULL : row[i].bytes, row[i].raw, 1,
				(int64_t[]){ (int64_t)row[i].count });
			hu_onnx m;
			if (typed) {
				t->n_int32_data = row[i].n;
				t->int32_data = (int32_t *)row[i].typed;
			}
			pb_add_tensor(p->graph, t);
			takes(&m, p);
			const hu_stensor *got = tensor(&m, "t");
			ok(got->bytes == row[i].raw && !memcmp(got->data, row[i].bytes, row[i].raw) &&
					got->count == row[i].count,
				"%s, %s", hu_onnx_type_name(row[i].type), typed ? "typed" : "raw");
			is_text(got->dtype, row[i].dtype, "its dtype");
			is_int(hu_onnx_type_of(got->dtype), row[i].type, "and back");
			hu_onnx_release(&m);
		}
	pb_model *p = pb_sample();
	pb_tensor *t = pb_tensor_raw("t", HU_ONNX_UINT32, NULL, 0, 1, (int64_t[]){ 2 });
	hu_onnx m;
	t->n_uint64_data = 2;
	t->uint64_data = (uint64_t[]){ 1, 0xffffffff };
	pb_add_tensor(p->graph, t);
	t = pb_tensor_raw("d", HU_ONNX_COMPLEX128, NULL, 0, 0, NULL);
	t->n_double_data = 2;
	t->double_data = (double[]){ 0.5, -1 };
	pb_add_tensor(p->graph, t);
	t = pb_tensor_raw("s", HU_ONNX_STRING, NULL, 0, 1, (int64_t[]){ 1 });
	t->n_string_data = 1;
	t->string_data = &(ProtobufCBinaryData){ 2, (uint8_t *)"ab" };
	pb_add_tensor(p->graph, t);
	takes(&m, p);
	ok(!memcmp(tensor(&m, "t")->data, "\1\0\0\0\xff\xff\xff\xff", 8), "UINT32, typed");
	ok(tensor(&m, "d")->bytes == 16 && ((const double *)tensor(&m, "d")->data)[1] == -1, "COMPLEX128, typed");
	ok(tensor(&m, "s")->bytes == 0 && tensor(&m, "s")->count == 1, "texts have no bytes");
	hu_onnx_release(&m);
}

static void
wrong(void)
{
	static const float f[8];
	pb_model *p;
	pb_tensor *t;
	hu_onnx m;

	ok(hu_onnx_parse(&m, "m.onnx", "", 0) == HU_EFILE && strstr(hu_reason(), "no graph"), "empty: %s", hu_reason());
	ok(hu_onnx_parse(&m, "m.onnx", "\xff\xff\xff\xff\xff\xff", 6) == HU_EFILE &&
			strstr(hu_reason(), "does not parse"),
		"no protobuf: %s", hu_reason());
	p = pb_sample();
	p->n_opset_import = 0;
	refuses(p, "imports no operators", "no opset");
	p = pb_sample();
	Hu__Onnx__Pb__OpsetId other = *p->opset_import[0], *both[] = { p->opset_import[0], &other };
	p->opset_import = both;
	p->n_opset_import = 2;
	takes(&m, p);
	is_int(hu_onnx_version(&m, ""), 17, "a version that is imported twice");
	hu_onnx_release(&m);
	other.version--;
	refuses(p, "two versions", "two versions of the operators");
	p = pb_sample();
	p->graph->initializer[0]->raw_data.len = 31;
	refuses(p, "'conv.w' has 31 bytes and its shape and type FLOAT need 32", "bytes that are too few");
	p->graph->initializer[0]->dims[0] = -2;
	refuses(p, "dimension 0, -2", "a negative dimension");
	p->graph->initializer[0]->dims[0] = INT64_MAX;
	refuses(p, "no possible number", "dimensions that wrap");
	p->graph->initializer[0]->dims[0] = INT64_MAX / 8;
	p->graph->initializer[0]->data_type = HU_ONNX_COMPLEX128;
	refuses(p, "more than memory", "bytes that wrap");
	p->graph->initializer[0]->data_type = 99;
	refuses(p, "unknown element type 99", "an unknown type");
	p = pb_sample();
	p->graph->initializer[2]->n_float_data = 1;
	refuses(p, "'fc.b' has 1 entries", "entries that are too few");
	t = pb_tensor_raw("t", HU_ONNX_INT8, NULL, 0, 1, (int64_t[]){ 1 });
	t->n_int32_data = 1;
	t->int32_data = (int32_t[]){ 300 };
	pb_add_tensor((p = pb_sample())->graph, t);
	refuses(p, "entry 0, 300, has more than 8 bits", "a value too large for its type");
	pb_add_tensor(
		(p = pb_sample())->graph, pb_tensor_raw("t", 1, f, 4, 9, (int64_t[]){ 1, 1, 1, 1, 1, 1, 1, 1, 1 }));
	refuses(p, "9 dimensions", "too many dimensions");
	pb_add_tensor((p = pb_sample())->graph, pb_tensor_raw("conv.w", 1, f, 4, 0, NULL));
	refuses(p, "two initialisers are named 'conv.w'", "a name twice");
	pb_add_node((p = pb_sample())->graph, pb_node_new("Relu", "again", "x", "r"));
	refuses(p, "'r', an output of node", "an output made twice");
	pb_add_node((p = pb_sample())->graph, pb_node_new("Relu", "lost", "nowhere", "z"));
	refuses(p, "node 'lost' (Relu) reads 'nowhere'", "a name that nobody makes");
	p = pb_sample();
	p->graph->node[5]->input[0] = "logits";
	refuses(p, "cycle", "a cycle");
	p = pb_sample();
	p->graph->node[5]->input[0] = "y";
	refuses(p, "cycle", "a cycle through a graph inside a node");
	p = pb_sample();
	p->graph->output[0]->name = "nothing";
	refuses(p, "the output 'nothing'", "an output that nobody makes");
	p = pb_sample();
	p->graph->n_sparse_initializer = 1;
	Hu__Onnx__Pb__Sparse s = HU__ONNX__PB__SPARSE__INIT, *sp = &s;
	s.values = pb_tensor_raw("thin", 1, f, 4, 1, (int64_t[]){ 1 });
	p->graph->sparse_initializer = &sp;
	refuses(p, "'thin' is sparse", "a sparse initialiser");

	pb_graph *deep = pb_graph_new("bottom");
	for (int i = 0; i < HU_ONNX_DEPTH + 1; i++) {
		pb_graph *around = pb_graph_new("g");
		pb_node *x = pb_node_new("If", "n", "", "");
		pb_add_graph(x, "then_branch", deep);
		pb_add_node(around, x);
		deep = around;
	}
	refuses(pb_model_new(deep, 17), "nested more than 16 deep", "graphs in graphs");
}

static void
place(pb_tensor *t, const char *location, const char *offset, const char *length)
{
	const char *v[] = { "location", location, "offset", offset, "length", length };

	t->has_raw_data = 0;
	t->has_data_location = t->data_location = 1;
	t->external_data = hu_xcalloc(3, sizeof(void *));
	t->n_external_data = 0;
	for (int i = 0; i < 6; i += 2) {
		if (!v[i + 1])
			continue;
		Hu__Onnx__Pb__StringPair *e = hu_xcalloc(1, sizeof *e);
		hu__onnx__pb__string_pair__init(e);
		e->key = (char *)v[i];
		e->value = (char *)v[i + 1];
		t->external_data[t->n_external_data++] = e;
	}
}

/* fc.w in LOCATION from OFFSET on: opened as a file. */
static hu_status
external(hu_onnx *m, const char *location, const char *offset, const char *length)
{
	pb_model *p = pb_sample();
	char *path = hu_path(test_dir(), "in/m.onnx");
	size_t n;

	place(p->graph->initializer[1], location, offset, length);
	unsigned char *bytes = pb_pack(p, &n);
	if (hu_file_write(path, bytes, n) != HU_OK)
		bail_out("%s", hu_reason());
	free(bytes);
	hu_status st = hu_onnx_open(m, path);
	free(path);
	return st;
}

static void
refuses_external(const char *location, const char *offset, const char *length, const char *text, const char *what)
{
	hu_onnx m;

	ok(external(&m, location, offset, length) == HU_EFILE && strstr(hu_reason(), text), "%s: %s", what,
		hu_reason());
}

static void
beside(void)
{
	static const float w[9] = { 0, 1, 2, 3, 4, 5, 6, 7, 8 };
	char *in = hu_path(test_dir(), "in"), *data = hu_path(in, "w.bin"), *out = hu_path(test_dir(), "secret.bin"),
	     *link = hu_path(in, "link.bin"), *sub = hu_path(in, "sub"), *low = hu_path(sub, "w.bin");
	hu_onnx m;

	if (hu_make_dirs(sub) != HU_OK || hu_file_write(data, w, sizeof w) != HU_OK ||
		hu_file_write(out, w, sizeof w) != HU_OK || hu_file_write(low, w, sizeof w) != HU_OK ||
		symlink(out, link))
		bail_out("%s", hu_reason());
	for (int i = 0; i < 2;
		i++) { /* at the file's start, and where elements are not aligned to a cache line's quarter */
		if (!ok(external(&m, i ? "sub/w.bin" : "w.bin", i ? "4" : NULL, "32") == HU_OK, "external data: %s",
			    hu_reason()))
			bail_out("nothing to look at");
		ok(!memcmp(tensor(&m, "fc.w")->data, w + i, 32), "its bytes, from element %d on", i);
		hu_onnx_release(&m);
	}
	refuses_external("../secret.bin", NULL, NULL, "outside the model's folder", "a path that climbs out");
	refuses_external("sub/../../secret.bin", NULL, NULL, "outside the model's folder", "one that does so later");
	refuses_external(out, NULL, NULL, "outside the model's folder", "an absolute path");
	refuses_external("link.bin", NULL, NULL, "outside the model's folder", "a link that leads out");
	refuses_external("absent.bin", NULL, NULL, "cannot be opened", "a file that is not there");
	refuses_external("sub", NULL, NULL, "not a regular file", "a folder");
	refuses_external("w.bin", "8", NULL, "cut short", "data that end beyond the file");
	refuses_external("w.bin", "18446744073709551612", NULL, "cut short", "an offset that wraps");
	refuses_external("w.bin", "18446744073709551616", NULL, "do not say where", "an offset that is no number");
	refuses_external("w.bin", "-4", NULL, "do not say where", "a negative offset");
	refuses_external("w.bin", NULL, "28", "has 28 bytes", "a length that is another");
	refuses_external(NULL, NULL, NULL, "do not say where", "no location");
	free(in);
	free(data);
	free(out);
	free(link);
	free(sub);
	free(low);
}

int
main(void)
{
	sample();
	types();
	wrong();
	beside();
	hu_onnx m;
	ok(hu_onnx_open(&m, test_dir()) == HU_EFILE && strstr(hu_reason(), "not a regular file"), "a folder: %s",
		hu_reason());
	ok(hu_onnx_is("a/b.onnx") && !hu_onnx_is("onnx") && !hu_onnx_is("a.onnx.txt"), "told by the name's end");
	return done_testing();
}
