noinst_HEADERS += t/op/attention/flash-job.h
SCRIPT_TESTS += t/op/attention/t-attention.py
C_TESTS += t/op/attention/u-flash
EXPENSIVE_C_TESTS += t/op/attention/x-flash-exp2
