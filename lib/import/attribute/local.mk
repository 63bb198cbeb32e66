# SPDX-License-Identifier: Apache-2.0

noinst_HEADERS += lib/import/attribute/flags.def
noinst_HEADERS += lib/import/attribute/unread.def
noinst_HEADERS += lib/import/attribute/words.def
