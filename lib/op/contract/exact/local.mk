# SPDX-License-Identifier: Apache-2.0

libhalfulp_a_SOURCES += lib/op/contract/exact/contract_certified.c
libhalfulp_a_SOURCES += lib/op/contract/exact/contract_enclose.c
libhalfulp_a_SOURCES += lib/op/contract/exact/contract_exact.c
noinst_HEADERS += lib/op/contract/exact/contract_exact.h
libhalfulp_a_SOURCES += lib/op/contract/exact/contract_judge.c
libhalfulp_a_SOURCES += lib/op/contract/exact/contract_low.c
noinst_HEADERS += lib/op/contract/exact/contract_low.h
libhalfulp_a_SOURCES += lib/op/contract/exact/contract_runs.c
noinst_HEADERS += lib/op/contract/exact/contract_runs.h
libhalfulp_a_SOURCES += lib/op/contract/exact/enclosing.c
noinst_HEADERS += lib/op/contract/exact/enclosing.h
