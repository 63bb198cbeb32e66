/* SPDX-License-Identifier: Apache-2.0
   What attention's closed form is asked to compute: the sizes, facts and errors that hu_attention_call_read makes of a
   call, and the shapes and counts that it refuses, each in a line that says what does not fit. */
#include "lib/judge/kernel/row/attention_call.h"

#include "t/tool/tap.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { Q, K, V, MASK, SLOPES, SINKS, LENGTHS, OPERANDS };

static hu_facts facts;
static hu_roundoffs roundoffs;
static hu_ball some[4096];

/* An array of the shape "2x3x4"; an empty text is an absent one. */
static hu_balls
array(const char *shape)
{
	hu_balls a = { .n = 1, .b = some };
	int used;

	for (size_t n; sscanf(shape, "%zu%n", &n, &used) == 1; shape += used + (shape[used] == 'x')) {
		a.d[a.rank++] = n;
		a.n *= n;
	}
	return a.rank ? a : (hu_balls){ .b = NULL };
}

/* Reads a call with these operands' shapes, which blanks separate, and keys such as "causal=1 block=32". */
static hu_status
read_call(hu_attention_call *t, const char *shapes, const char *keys, hu_stores stores)
{
	hu_ball_call c = { .row = hu_ball_row_find("attention"), .facts = &facts, .roundoffs = &roundoffs,
		.stores = stores };
	hu_balls in[OPERANDS];
	char key[8][2][24], shape[24];
	int used;

	memset(in, 0, sizeof in);
	for (; sscanf(shapes, " %23s%n", shape, &used) == 1 && c.nin < OPERANDS; shapes += used)
		in[c.nin++] = array(strcmp(shape, "-") ? shape : "");
	for (; sscanf(keys, " %23[a-z_]=%23s%n", key[c.nkey][0], key[c.nkey][1], &used) == 2; keys += used) {
		c.key[c.nkey].key = key[c.nkey][0];
		c.key[c.nkey].value = key[c.nkey][1];
		c.nkey++;
	}
	return hu_attention_call_read(t, &c, in);
}

static void
test_sizes(void)
{
	hu_attention_call t;

	ok(read_call(&t, "2x8x5x16 2x2x7x16 2x2x7x12", "", HU_STORES_ADD) == HU_OK, "grouped heads are taken");
	ok(t.outer == 2 && t.heads == 8 && t.kv_heads == 2 && t.n == 5 && t.keys == 7 && t.depth == 16 &&
			t.width == 12,
		"the sizes are those of the operands");
	ok(t.scores.rank == 4 && t.scores.n == 2 * 8 * 5 * 7 && t.scores.d[2] == 5 && t.scores.d[3] == 7,
		"scores have a number for each query and key");
	ok(t.scale == 0.25 && !t.causal && !t.window && t.cap == 0 && t.first == 0 && t.of == 5 && t.blocks == 1,
		"what is not declared is 1/sqrt(depth), no mask, and one block of 16 keys");
	ok(t.up == 0 && !t.mask.b && !t.slopes.b && !t.sinks.b && !t.lengths.b, "P is stored in no format");
	ok(read_call(&t, "5x16 7x16 7x16", "", HU_STORES_ADD) == HU_OK && t.outer == 1 && t.heads == 1,
		"two axes are one head");
	ok(read_call(&t, "2x4x5x8 2x4x7x8 2x4x7x8 5x7 4 4 2", "", HU_STORES_ADD) == HU_OK && t.mask.n == 35 &&
			t.slopes.n == 4 && t.sinks.n == 4 && t.lengths.n == 2,
		"optional operands are found by their places");
	ok(read_call(&t, "2x4x5x8 2x4x7x8 2x4x7x8 - - - 2", "", HU_STORES_ADD) == HU_OK && !t.mask.b &&
			t.lengths.n == 2,
		"and may be absent before others");
}

static void
test_facts(void)
{
	hu_attention_call t;

	ok(read_call(&t, "5x16 70x16 70x16",
		   "causal=2 window=9 block=32 scale=0.5 softcap=30 diagonal=-1 first=3 of=40",
		   HU_STORES_ADD) == HU_OK &&
			t.causal == 2 && t.window == 9 && t.blocks == 3 && t.scale == 0.5 && t.cap == 30 &&
			t.diagonal == -1 && t.first == 3 && t.of == 40,
		"facts are read; 70 keys are 3 blocks of 32");
	ok(read_call(&t, "5x16 70x16 70x16", "block=0", HU_STORES_ADD) == HU_OK && t.blocks == 70,
		"blocks of no size may be of one key");
	ok(read_call(&t, "5x16 7x16 7x16", "p=bf16 denominator_p=1", HU_STORES_ADD) == HU_OK && t.up == 0x1p-8 &&
			t.tiny_p == roundoffs.tiny + 0x1p-134 && t.p_below == 1,
		"a stored P has its format's unit roundoff and half its smallest number");
	ok(read_call(&t, "5x16 7x16 7x16", "p=bf16", HU_STORES_NONE) == HU_OK && t.up == 0 &&
			t.tiny_p == roundoffs.tiny,
		"where stores are left out it has none");
	ok(read_call(&t, "5x16 7x16 7x16", "pv=fp16", HU_STORES_DECIDE) == HU_OK && t.up == 0 && t.upv == 0x1p-11 &&
			t.tiny_pv == 0x1p-25 && t.most_pv == 65520,
		"a stored P V has its format's unit roundoff, half its smallest number, and overflows from 65520 on");
	ok(read_call(&t, "5x16 7x16 7x16", "pv=fp16", HU_STORES_NONE) == HU_OK && t.upv == 0 && t.tiny_pv == 0 &&
			t.most_pv == INFINITY,
		"where stores are left out it has none either");
	read_call(&t, "5x16 7x16 7x16", "", HU_STORES_ADD);
	ok(t.gd >= 16 * 0x1p-24 && t.gd < 16.01 * 0x1p-24 && t.g >= 8 * 0x1p-24 && t.g < 8.01 * 0x1p-24,
		"sums of 16 products and of 7 keys and one more err by as many unit roundoffs of fp32");
}

static void
refuses(const char *shapes, const char *keys, const char *said)
{
	hu_attention_call t;
	hu_status st = read_call(&t, shapes, keys, HU_STORES_ADD);

	ok(st != HU_OK && strstr(hu_reason(), said) && !strchr(hu_reason(), '\n'), "%s %s is refused: %s", shapes, keys,
		st == HU_OK ? "it is not" : hu_reason());
}

int
main(void)
{
	hu_facts_init(&facts);
	if (hu_facts_arithmetic(&facts, &roundoffs) != HU_OK)
		bail_out("%s", hu_reason());
	test_sizes();
	test_facts();
	refuses("5x16 7x15 7x16", "", "do not fit each other");
	refuses("5x16 7x16 8x16", "", "do not fit each other");
	refuses("16 7x16 7x16", "", "do not fit each other");
	refuses("2x3x5x16 2x2x7x16 2x2x7x16", "", "by a whole factor");
	refuses("2x4x5x16 3x4x7x16 3x4x7x16", "", "do not fit each other");
	refuses("5x16 0x16 0x16", "", "do not fit each other");
	refuses("1x1x4x5x8 1x1x4x7x8 1x1x4x7x8", "", "at most 4 axes");
	refuses("2x4x5x8 2x4x7x8 2x4x7x8 6x7", "", "mask");
	refuses("2x4x5x8 2x4x7x8 2x4x7x8 - 3", "", "one number for each of the 4 heads");
	refuses("2x4x5x8 2x4x7x8 2x4x7x8 - - 3", "", "one number for each of the 4 heads");
	refuses("2x4x5x8 2x4x7x8 2x4x7x8 - - - 3", "", "one number for each of the 2 sequences");
	refuses("5x16 7x16 7x16", "first=3 of=7", "5 queries from there on");
	refuses("5x16 7x16 7x16", "causal=x", "causal");
	refuses("5x16 7x16 7x16", "p=bf17", "p");
	refuses("5x16 7x16 7x16", "pv=bf17", "pv");
	hu_facts_release(&facts);
	done_testing();
}
