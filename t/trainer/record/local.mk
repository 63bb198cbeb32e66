# SPDX-License-Identifier: Apache-2.0

EXTRA_DIST += t/trainer/record/recorded_runs.py
SCRIPT_TESTS += t/trainer/record/t-lock.sh
SCRIPT_TESTS += t/trainer/record/t-manifest-config.py
SCRIPT_TESTS += t/trainer/record/t-record-energy.py
SCRIPT_TESTS += t/trainer/record/t-record-passes.py
SCRIPT_TESTS += t/trainer/record/t-record.py
SCRIPT_TESTS += t/trainer/record/t-resume.sh
SCRIPT_TESTS += t/trainer/record/t-verify.sh
C_TESTS += t/trainer/record/u-record
