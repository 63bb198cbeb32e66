# SPDX-License-Identifier: Apache-2.0

EXTRA_DIST += doc/examples/conftest.py
EXTRA_DIST += doc/examples/round.c
