#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Casts of arrays, the four formats that training uses most; `bench/cast.sh --format all --mode all` says the rest.
exec "${HALFULP:-halfulp}" bench cast "$@"
