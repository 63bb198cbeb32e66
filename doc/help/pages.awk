# SPDX-License-Identifier: Apache-2.0
# The pages of doc/help/*.txt as a table of strings for the program (lib/base/console/page.h).
BEGIN { print "#include \"lib/base/console/page.h\"\n\nconst hu_page hu_pages[] = {" }
FNR == 1 {
	name = FILENAME
	sub(/.*\//, "", name)
	sub(/[.]txt$/, "", name)
	if (NR > 1)
		print "\t},"
	printf "\t{ \"%s\",\n", name
}
{
	gsub(/\\/, "\\\\\\\\")
	gsub(/"/, "\\\"")
	printf "\t\t\"%s\\n\"\n", $0
}
END { print "\t},\n\t{ NULL, NULL }\n};" }
