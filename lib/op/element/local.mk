# SPDX-License-Identifier: Apache-2.0

noinst_HEADERS += lib/op/element/carrier.h
libhalfulp_a_SOURCES += lib/op/element/dd.c
noinst_HEADERS += lib/op/element/dd.h
noinst_HEADERS += lib/op/element/formula.h
noinst_HEADERS += lib/op/element/formula.inc
noinst_HEADERS += lib/op/element/formula_undef.inc
libhalfulp_a_SOURCES += lib/op/element/map.c
noinst_HEADERS += lib/op/element/map.h
libhalfulp_a_SOURCES += lib/op/element/map_enclose.c
libhalfulp_a_SOURCES += lib/op/element/moments.c
noinst_HEADERS += lib/op/element/moments.h
libhalfulp_a_SOURCES += lib/op/element/pointwise.c
noinst_HEADERS += lib/op/element/pointwise.h
