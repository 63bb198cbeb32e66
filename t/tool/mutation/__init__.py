# SPDX-License-Identifier: Apache-2.0
# Mutation of sources, for t/tool/mutation/mutate.py: rules (what changes), known (changes that no test can see),
# builder (compiles one object, links it before the library), kernels and sources (what is mutated, and which tests
# judge it).
