# SPDX-License-Identifier: Apache-2.0

EXTRA_DIST += doc/teaching/README.md
EXTRA_DIST += doc/teaching/slide.svg
