# SPDX-License-Identifier: Apache-2.0

libhalfulp_a_SOURCES += lib/store/idx.c
noinst_HEADERS += lib/store/idx.h
libhalfulp_a_SOURCES += lib/store/npy.c
noinst_HEADERS += lib/store/npy.h
libhalfulp_a_SOURCES += lib/store/npz.c
noinst_HEADERS += lib/store/npz.h
libhalfulp_a_SOURCES += lib/store/run.c
noinst_HEADERS += lib/store/run.h
libhalfulp_a_SOURCES += lib/store/run_read.c
libhalfulp_a_SOURCES += lib/store/run_trace.c
noinst_HEADERS += lib/store/run_trace.h
libhalfulp_a_SOURCES += lib/store/run_write.c
libhalfulp_a_SOURCES += lib/store/safetensors.c
noinst_HEADERS += lib/store/safetensors.h
libhalfulp_a_SOURCES += lib/store/safetensors_write.c
