# SPDX-License-Identifier: Apache-2.0

EXTRA_DIST += t/stub/allocations.c
EXTRA_DIST += t/stub/calls.c
EXTRA_DIST += t/stub/cublaslt.c
EXTRA_DIST += t/stub/functions.c
noinst_HEADERS += t/stub/functions.def
EXTRA_DIST += t/stub/nccl.c
EXTRA_DIST += t/stub/no-memory.c
EXTRA_DIST += t/stub/ranks.c
noinst_HEADERS += t/stub/streams.inc
