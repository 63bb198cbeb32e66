# SPDX-License-Identifier: Apache-2.0
# title: {message(0)|%s}
# caption: The order in which terms are added, revealed from sums alone: each node adds what hangs below it. Below each tree the most additions that one term goes
#   through, which times the unit roundoff bounds the error.
# data: halfulp tree --full --json
# take: backend sum tree? hash? is?
most_trees = 6
set datafile separator "\t"
set datafile columnheaders
found = 0
array text[most_trees]; array name[most_trees]; array mark[most_trees]
known(h) = (at = 0, sum [i = 1:most_trees] (i <= found && mark[i] eq h ? (at = i) : 0), at)
rows = 0; distinct = 0; hidden = 0
add(b, s, t, h) = (rows = rows + 1, t eq '-' || t eq '' || known(h) ? 0 : found == most_trees ? (hidden = hidden + 1) : (found = found + 1, text[found] = t, name[found] = b.': '.s, mark[found] = h), 0)
stats file using (add(strcol('backend'), strcol('sum'), strcol('tree'), strcol('hash'))) nooutput
if (found == 0) { print 'no sum here has a tree to draw'; exit status 1 }
narrow = exists('width') && width < 480
across = narrow ? 1 : found < 3 ? found : 3; down = int((found + across - 1) / across)
height_wanted = 110 + (narrow ? 190 : 250) * down
load 'picture-style.gp'

# Reads a tree such as ((1 2) 10): a node stands over the middle of its children, one above the highest of them. depth counts
# the nodes above a term.
array open_at[2000]; array x_sum[2000]; array kids[2000]; array top[2000]
array child_x[4000]; array child_y[4000]
array height_of[most_trees]; array terms_of[most_trees]; array depth_of[most_trees]
edges = 0
set print $edges
digit(c) = strstrt('0123456789', c) > 0
do for [k = 1:found] {
	level = 0; pending = 0; terms = 0; deepest = 0
	s = text[k]; n = strlen(s); i = 1
	while (i <= n) {
		c = s[i:i]
		done = 0
		if (c eq '(') { level = level + 1; open_at[level] = pending; x_sum[level] = 0; kids[level] = 0; top[level] = 0 }
		if (digit(c)) {
			while (i < n && digit(s[i + 1:i + 1])) { i = i + 1; c = c.s[i:i] }
			terms = terms + 1; px = terms; py = 0; done = 1
			deepest = level > deepest ? level : deepest
		}
		if (c eq ')') {
			px = x_sum[level] / kids[level]; py = top[level] + 1; done = 1
			do for [j = open_at[level] + 1:pending] {
				edges = edges + 1; print sprintf("%d\t%g\t%g\t%g\t%g", k, child_x[j], child_y[j], px, py)
			}
			pending = open_at[level]; level = level - 1
			height_of[k] = py
		}
		if (done) {
			pending = pending + 1; child_x[pending] = px; child_y[pending] = py
			if (level > 0) { x_sum[level] = x_sum[level] + px; kids[level] = kids[level] + 1; top[level] = py > top[level] ? py : top[level] }
		}
		i = i + 1
	}
	terms_of[k] = terms; depth_of[k] = deepest
}
set print
set datafile nocolumnheaders
message(_) = found == 1 && rows == 1 ? sprintf('%s adds %d terms, at most %d additions in a row', name[1], terms_of[1], depth_of[1]) \
	: sprintf('%d sums follow %d orders%s', rows, found + hidden, hidden ? sprintf(', of which the first %d are drawn', found) : '')
# A tree fills the cell of its column and row, each of which is 1 wide and 1 high
cell_x(k, x) = (k - 1) % across + 0.06 + 0.88 * (terms_of[k] > 1 ? (x - 1.) / (terms_of[k] - 1) : 0.5)
cell_y(k, y) = down - 1 - int((k - 1) / across) + 0.16 + 0.68 * y / height_of[k]

do for [format in formats] {
	eval begin_picture(format, 14, 14)
	set bmargin at screen 8. / height
	set border 0; unset tics; unset grid; unset key
	set xrange [0:across]; set yrange [0:down]
	do for [k = 1:found] {
		set label 3 * k shorter(name[k], int(width / across / 6.4)) noenhanced at (k - 1) % across + 0.5, down - int((k - 1) / across) - 0.05 center textcolor rgb series_word(k) font little(format)
		set label 3 * k + 1 sprintf('%d terms, %d in a row', terms_of[k], depth_of[k]) at (k - 1) % across + 0.5, down - 1 - int((k - 1) / across) + 0.03 center textcolor rgb soft font little(format)
	}
	plot for [k = 1:found] $edges using ($1 == k ? cell_x(k, $2) : NaN):(cell_y(k, $3)):(cell_x(k, $4) - cell_x(k, $2)):(cell_y(k, $5) - cell_y(k, $3)) \
		with vectors nohead lw (edges > 400 ? 0.8 : 1.5) lc rgb series_ink(k) notitle
}
unset output
