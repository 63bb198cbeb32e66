# SPDX-License-Identifier: Apache-2.0

libhalfulp_a_SOURCES += lib/sum/table/bound.c
libhalfulp_a_SOURCES += lib/sum/table/bound_operands.c
libhalfulp_a_SOURCES += lib/sum/table/bound_rule.c
libhalfulp_a_SOURCES += lib/sum/table/cdna.c
libhalfulp_a_SOURCES += lib/sum/table/hops.c
libhalfulp_a_SOURCES += lib/sum/table/integers.c
noinst_HEADERS += lib/sum/table/model.h
libhalfulp_a_SOURCES += lib/sum/table/models.c
libhalfulp_a_SOURCES += lib/sum/table/order_known.c
libhalfulp_a_SOURCES += lib/sum/table/ozaki_bound.c
noinst_HEADERS += lib/sum/table/parts.h
libhalfulp_a_SOURCES += lib/sum/table/prefixes.c
libhalfulp_a_SOURCES += lib/sum/table/roundings.c
libhalfulp_a_SOURCES += lib/sum/table/sum.c
libhalfulp_a_SOURCES += lib/sum/table/sum_names.c
libhalfulp_a_SOURCES += lib/sum/table/sum_unit.c
