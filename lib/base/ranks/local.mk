# SPDX-License-Identifier: Apache-2.0

MPI_SOURCES += lib/base/ranks/mpi.c
libhalfulp_a_SOURCES += lib/base/ranks/ranks.c
noinst_HEADERS += lib/base/ranks/ranks.h
libhalfulp_a_SOURCES += lib/base/ranks/ranks_open.c
noinst_HEADERS += lib/base/ranks/ranks_open.h
noinst_HEADERS += lib/base/ranks/shares.def
noinst_HEADERS += lib/base/ranks/starters.def
libhalfulp_a_SOURCES += lib/base/ranks/united.c
noinst_HEADERS += lib/base/ranks/united.h
noinst_HEADERS += lib/base/ranks/wire.h
