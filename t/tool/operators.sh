#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# operators.sh TOP: prints the name of each operator, in the order of the table.
{
	sed -n 's/^POINTWISE(\([a-z0-9_]*\), .*/\1/p' "$1"/lib/op/element/rows/*.def
	sed -n 's/^MLAS(\([a-z0-9_]*\), .*/mlas_\1/p' "$1/lib/op/mlas.def"
	sed -n 's/^OP(\([a-z0-9_]*\))$/\1/p' "$1/lib/op/ops.def"
}
