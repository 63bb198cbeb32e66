#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The table of formats, with pi in each. HALFULP names the program.
exec "${HALFULP:-halfulp}" formats
