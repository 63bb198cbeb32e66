# SPDX-License-Identifier: Apache-2.0

libhalfulp_a_SOURCES += lib/op/move/copy.c
noinst_HEADERS += lib/op/move/index_map.h
libhalfulp_a_SOURCES += lib/op/move/keys.c
noinst_HEADERS += lib/op/move/keys.h
libhalfulp_a_SOURCES += lib/op/move/moves.c
noinst_HEADERS += lib/op/move/moves.h
libhalfulp_a_SOURCES += lib/op/move/moves_dx.c
libhalfulp_a_SOURCES += lib/op/move/sums.c
