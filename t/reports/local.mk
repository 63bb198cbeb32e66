# SPDX-License-Identifier: Apache-2.0

EXTRA_DIST += t/reports/gallery_numbers.py
EXTRA_DIST += t/reports/gallery_random.py
EXTRA_DIST += t/reports/make-sample-run.py
EXTRA_DIST += t/reports/paper.py
EXTRA_DIST += t/reports/svgtext.py
SCRIPT_TESTS += t/reports/t-figures.py
SCRIPT_TESTS += t/reports/t-gallery.py
SCRIPT_TESTS += t/reports/t-layers.py
SCRIPT_TESTS += t/reports/t-model-page.py
SCRIPT_TESTS += t/reports/t-page.py
SCRIPT_TESTS += t/reports/t-picture-names.py
SCRIPT_TESTS += t/reports/t-pictures.py
SCRIPT_TESTS += t/reports/t-report.sh
SCRIPT_TESTS += t/reports/t-tables.py
SCRIPT_TESTS += t/reports/t-teaching.py
C_TESTS += t/reports/u-figure
