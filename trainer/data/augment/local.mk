# SPDX-License-Identifier: Apache-2.0

libhalfulp_a_SOURCES += trainer/data/augment/crop.c
libhalfulp_a_SOURCES += trainer/data/augment/flip.c
libhalfulp_a_SOURCES += trainer/data/augment/noise.c
libhalfulp_a_SOURCES += trainer/data/augment/scale.c
libhalfulp_a_SOURCES += trainer/data/augment/shift.c
