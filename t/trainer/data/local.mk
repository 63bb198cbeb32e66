# SPDX-License-Identifier: Apache-2.0

SCRIPT_TESTS += t/trainer/data/t-augment.py
SCRIPT_TESTS += t/trainer/data/t-cifar.py
SCRIPT_TESTS += t/trainer/data/t-images.py
SCRIPT_TESTS += t/trainer/data/t-npz-train.py
SCRIPT_TESTS += t/trainer/data/t-tsv.py
SCRIPT_TESTS += t/trainer/data/t-udata.py
C_TESTS += t/trainer/data/u-digits
C_TESTS += t/trainer/data/u-drawn
C_TESTS += t/trainer/data/u-made
C_TESTS += t/trainer/data/u-npz-data
C_TESTS += t/trainer/data/u-ratings
C_TESTS += t/trainer/data/u-reviews
C_TESTS += t/trainer/data/u-text
EXPENSIVE_SCRIPT_TESTS += t/trainer/data/x-images-many.py
