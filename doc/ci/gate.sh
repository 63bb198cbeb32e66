#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The step that action.yml and tensors.yml share: holds files, or a model's answers, to what the repository
# says. It reads
#   HALFULP    the program                   NEW, BASELINE  two files of tensors or metrics, or a run and its baseline
#   RULES      rules of check, a line each   MODEL, DATA, POLICIES, ACCEPT  of validate; conditions stand a line each
#   FORMAT     how the job's log is written: github, or text
#   SUMMARY    a file that Markdown is appended to
# writes halfulp-junit.xml and, of files, halfulp-quality.json, and exits 1 where something drifted or broke its budget.
set -u
code=0
worse() { test "$1" -le "$code" || code=$1; }

if test -n "${NEW:-}"; then
	rules=()
	while IFS= read -r rule; do test -z "$rule" || rules+=(--rule "$rule"); done <<<"${RULES:-}"
	check=("$HALFULP" check "$NEW" --baseline "$BASELINE" "${rules[@]}")
	"${check[@]}" --format "${FORMAT:-text}"
	worse $?
	"${check[@]}" --format junit >halfulp-junit.xml 2>/dev/null
	"${check[@]}" --format gitlab >halfulp-quality.json 2>/dev/null
	test -z "${SUMMARY:-}" || "${check[@]}" --format markdown >>"$SUMMARY" 2>/dev/null
fi
if test -n "${MODEL:-}"; then
	budget=()
	while IFS= read -r condition; do test -z "$condition" || budget+=(--accept "$condition"); done <<<"${ACCEPT:-}"
	answer=$("$HALFULP" validate "$MODEL" --data "$DATA" --policy "$POLICIES" "${budget[@]}")
	worse $?
	printf '%s\n' "$answer"
	test -z "${SUMMARY:-}" || printf '## %s\n\n```\n%s\n```\n' "$MODEL" "$answer" >>"$SUMMARY"
fi
if test -z "${NEW:-}${MODEL:-}"; then
	echo "halfulp: there is nothing to gate: the input new, or the input model, is needed" >&2
	code=2
fi
exit "$code"
