# SPDX-License-Identifier: Apache-2.0

apidir = $(includedir)/halfulp
if SHARED
api_HEADERS = include/halfulp/call.h include/halfulp/exact.h include/halfulp/format.h include/halfulp/halfulp.h \
	include/halfulp/status.h include/halfulp/sum.h
apipcdir = $(libdir)/pkgconfig
apipc_DATA = halfulp.pc
endif
EXTRA_DIST += include/halfulp/call.h include/halfulp/exact.h include/halfulp/format.h include/halfulp/halfulp.h \
	include/halfulp/status.h include/halfulp/sum.h
libhalfulp_a_SOURCES += lib/api/call.c
noinst_HEADERS += lib/api/call.h
libhalfulp_a_SOURCES += lib/api/enter.c
noinst_HEADERS += lib/api/enter.h
libhalfulp_a_SOURCES += lib/api/exact.c
libhalfulp_a_SOURCES += lib/api/format.c
noinst_HEADERS += lib/api/format.h
libhalfulp_a_SOURCES += lib/api/judgement.c
libhalfulp_a_SOURCES += lib/api/sum.c
