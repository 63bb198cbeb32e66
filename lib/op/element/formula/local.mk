# SPDX-License-Identifier: Apache-2.0

noinst_HEADERS += lib/op/element/formula/loss.inc
noinst_HEADERS += lib/op/element/formula/norm.inc
noinst_HEADERS += lib/op/element/formula/update.inc
