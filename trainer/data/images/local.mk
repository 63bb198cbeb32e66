# SPDX-License-Identifier: Apache-2.0

libhalfulp_a_SOURCES += trainer/data/images/folder.c
noinst_HEADERS += trainer/data/images/folder.h
libhalfulp_a_SOURCES += trainer/data/images/folder_digest.c
libhalfulp_a_SOURCES += trainer/data/images/image.c
noinst_HEADERS += trainer/data/images/image.h
libhalfulp_a_SOURCES += trainer/data/images/images.c
libhalfulp_a_SOURCES += trainer/data/images/jpeg.c
libhalfulp_a_SOURCES += trainer/data/images/png.c
libhalfulp_a_SOURCES += trainer/data/images/resize.c
noinst_HEADERS += trainer/data/images/resize.h
