# SPDX-License-Identifier: Apache-2.0

libhalfulp_a_SOURCES += lib/base/parts/deal.c
noinst_HEADERS += lib/base/parts/deal.h
libhalfulp_a_SOURCES += lib/base/parts/pack.c
noinst_HEADERS += lib/base/parts/pack.h
libhalfulp_a_SOURCES += lib/base/parts/parts.c
noinst_HEADERS += lib/base/parts/parts.h
libhalfulp_a_SOURCES += lib/base/parts/shard.c
libhalfulp_a_SOURCES += lib/base/parts/share.c
noinst_HEADERS += lib/base/parts/share.h
noinst_HEADERS += lib/base/parts/share_needs.def
noinst_HEADERS += lib/base/parts/share_options.def
libhalfulp_a_SOURCES += lib/base/parts/share_ranks.c
libhalfulp_a_SOURCES += lib/base/parts/sharing.c
