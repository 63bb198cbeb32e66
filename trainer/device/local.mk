# SPDX-License-Identifier: Apache-2.0

libhalfulp_a_SOURCES += trainer/device/ceiling.c
noinst_HEADERS += trainer/device/ceiling.h
noinst_HEADERS += trainer/device/devices.def
libhalfulp_a_SOURCES += trainer/device/fits.c
noinst_HEADERS += trainer/device/fits.h
libhalfulp_a_SOURCES += trainer/device/roofline.c
noinst_HEADERS += trainer/device/roofline.h
libhalfulp_a_SOURCES += trainer/device/steptime.c
noinst_HEADERS += trainer/device/steptime.h
libhalfulp_a_SOURCES += trainer/device/timing.c
noinst_HEADERS += trainer/device/timing.h
