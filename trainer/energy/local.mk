# SPDX-License-Identifier: Apache-2.0

libhalfulp_a_SOURCES += trainer/energy/account.c
noinst_HEADERS += trainer/energy/account.h
libhalfulp_a_SOURCES += trainer/energy/energy.c
noinst_HEADERS += trainer/energy/energy.h
noinst_HEADERS += trainer/energy/meters.def
libhalfulp_a_SOURCES += trainer/energy/nvml.c
libhalfulp_a_SOURCES += trainer/energy/rapl.c
