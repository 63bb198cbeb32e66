# SPDX-License-Identifier: Apache-2.0

SCRIPT_TESTS += t/trainer/device/t-doctor.sh
C_TESTS += t/trainer/device/u-ceiling
C_TESTS += t/trainer/device/u-energy
C_TESTS += t/trainer/device/u-gpu
C_TESTS += t/trainer/device/u-timing
