#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Casts of arrays, the four formats that training uses most; `bench/cast.sh --formats all --modes all` says the rest.
exec "${HALFULP:-halfulp}" bench cast "$@"
