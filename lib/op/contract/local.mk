# SPDX-License-Identifier: Apache-2.0

libhalfulp_a_SOURCES += lib/op/contract/contract.c
noinst_HEADERS += lib/op/contract/contract.h
noinst_HEADERS += lib/op/contract/contract.inc
libhalfulp_a_SOURCES += lib/op/contract/contract_bound.c
libhalfulp_a_SOURCES += lib/op/contract/contract_cut.c
libhalfulp_a_SOURCES += lib/op/contract/contract_family.c
libhalfulp_a_SOURCES += lib/op/contract/contract_lanes.c
noinst_HEADERS += lib/op/contract/contract_lanes.inc
libhalfulp_a_SOURCES += lib/op/contract/contract_operands.c
libhalfulp_a_SOURCES += lib/op/contract/contract_some.c
libhalfulp_a_SOURCES += lib/op/contract/contract_tc.c
libhalfulp_a_SOURCES += lib/op/contract/contract_workspace.c
libhalfulp_a_SOURCES += lib/op/contract/conv.c
noinst_HEADERS += lib/op/contract/conv.h
libhalfulp_a_SOURCES += lib/op/contract/pairs16.c
noinst_HEADERS += lib/op/contract/pairs16.h
