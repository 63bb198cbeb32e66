# SPDX-License-Identifier: Apache-2.0
# The part of x-add.sh that adds commands of several processes: one whose work shards and ranks share, and one whose
# work ranks share in another way. add_shares writes them to tree/; shares_edited prints the files; try_shares tries
# each.

add_shares() {
	append lib/base/ranks/shares.def 'SHARES(toyshare, 0)'
	cat >tree/analyzers/formats/cmd_toyshare.c <<'END'
/* SPDX-License-Identifier: Apache-2.0
   halfulp toyshare: a table of squares, each a unit of work that shards and ranks share. */
#include "lib/base/console/opt_need.h"
#include "lib/base/mem.h"
#include "lib/base/parts/share.h"
#include "lib/base/table/fields.h"

#include <stdlib.h>

enum { UNITS = 4 };

static const hu_opt opts[] = {
	{ "json", NULL, NULL, "print an array of objects" },
#include "lib/base/parts/share_options.def"
	{ NULL, NULL, NULL, NULL },
};
static const hu_opt_need needs[] = {
#include "lib/base/parts/share_needs.def"
	{ NULL, NULL, NULL },
};

typedef struct row {
	long long n, square;
} row;

static const hu_table_field field[] = {
	HU_FIELD_OF(row, "n", COUNT, n, ANYWHERE, "a whole number"),
	HU_FIELD_OF(row, "square", COUNT, square, ANYWHERE, "its square"),
};
static const hu_fields table = HU_FIELDS(field, row);

static char *
name_of(const void *of, int i)
{
	(void)of;
	return hu_xprintf("toy %d", i);
}

static hu_status
compute(void *of, int i, hu_str *found)
{
	(void)of;
	hu_str_addf(found, "%d", i * i);
	return HU_OK;
}

static hu_status
merge(void *of, int i, const char *found)
{
	row *r = of;

	r[i] = (row){ i, atoll(found) };
	return HU_OK;
}

static int
run(const hu_args *args)
{
	static const double cost[UNITS] = { 1, 1, 1, 1 };
	row rows[UNITS];
	hu_share_work w = { .command = "toyshare", .text = "by a toy", .folder = "toyshare/parts", .place = "toyshare",
		.n = UNITS, .cost = cost, .name = name_of, .compute = compute, .merge = merge, .of = rows };
	hu_sharing s;
	int ends = 0;
	hu_status st = hu_share_out(&s, &w, args, HU_OK, &ends);

	if (st == HU_OK && !ends)
		hu_fields_print(&table, rows, UNITS, NULL);
	hu_share_end(&s, st);
	return st == HU_OK ? HU_EXIT_OK : hu_complain(st);
}

const hu_command hu_cmd_toyshare = { "toyshare", "[OPTION...]", "print four squares", "Numbers are exact.", opts, run,
	needs, NULL };
END
	cat >tree/doc/help/toyshare.txt <<'END'
usage: halfulp toyshare [OPTION...]

Print four squares.

$ halfulp toyshare
n  square
0       0
...
$ halfulp toyshare --resume
n  square
...

  --shard I/N          compute only share I of N shares of the work

Exit codes: 0 done; 2 command line; 3 file; 4 environment.
END

	append lib/base/ranks/shares.def 'SHARES(toyranks, 0)'
	cat >tree/analyzers/formats/cmd_toyranks.c <<'END'
/* SPDX-License-Identifier: Apache-2.0
   halfulp toyranks: how many ranks there are. */
#include "lib/base/console/opt.h"
#include "lib/base/ranks/ranks.h"

#include <stdio.h>

static const hu_opt opts[] = { { "bare", NULL, NULL, "print the number alone" }, { NULL, NULL, NULL, NULL } };

static int
run(const hu_args *args)
{
	hu_status st = hu_ranks_agree(args->nrest ? hu_fail(HU_EINVAL, "no argument is taken") : HU_OK);

	if (st == HU_OK && !hu_ranks_rank())
		printf(hu_args_given(args, "bare") ? "%d\n" : "ranks: %d\n", hu_ranks_size());
	return st == HU_OK ? HU_EXIT_OK : hu_complain(st);
}

const hu_command hu_cmd_toyranks = { "toyranks", "[OPTION...]", "count ranks", "Rank 0 prints.", opts, run, NULL,
	NULL };
END
	cat >tree/doc/help/toyranks.txt <<'END'
usage: halfulp toyranks [OPTION...]

Count ranks.

$ halfulp toyranks
ranks: 1
$ halfulp toyranks --bare
1

  --bare               print the number alone

Exit codes: 0 done; 2 command line; 3 file; 4 environment.
END
}

shares_edited() {
	printf '%s\n' lib/base/ranks/shares.def analyzers/formats/cmd_toyshare.c doc/help/toyshare.txt \
		analyzers/formats/cmd_toyranks.c doc/help/toyranks.txt
}

try_shares() {
	run toyshare && cp out whole
	run toyshare --shard 1/2 && run toyshare --shard 2/2 && run merge toyshare && cmp out whole
	test_is $? "shards share a command's work, and merge prints what one process does"
	# In a shell of its own: without MPI there is nothing to start
	(
		skip_all() { exit 77; }
		. "$top/t/tool/mpi.sh"
		timeout 60 $mpirun -n 2 "$HALFULP" toyranks </dev/null &&
			timeout 60 $mpirun -n 2 "$HALFULP" toyshare </dev/null
	) >out 2>err
	code=$?
	if test $code != 77; then
		test $code = 0 && grep -q '^ranks: 2$' out && sed 1d out | cmp - whole
		test_is $? "ranks share the work of both"
	fi
}
