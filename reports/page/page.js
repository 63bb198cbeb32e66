// SPDX-License-Identifier: Apache-2.0
// Tables of the page sort by a click on a heading and, where they are long, show only the rows that match a few words;
// arrow keys go through a graph. Without this script the page has the same tables in their first order, and the nodes
// of a graph are links.
"use strict";
(() => {
	const LONG = 9;        // rows from which on a table gets a field for words
	const infinite = { inf: Infinity, "-inf": -Infinity };

	// A cell's value: the number with all its digits where it has one, else its text; null where nothing was measured.
	const valueOf = (row, column) => {
		const cell = row.cells[column], all = cell.dataset.v, text = cell.textContent.trim();
		if (text === "–" || text === "" || all === "nan")
			return null;
		const x = all in infinite ? infinite[all] : Number(all === undefined ? text : all);
		return Number.isNaN(x) ? text : x;
	};
	const compare = (a, b) => typeof a === "number" && typeof b === "number" ? a - b
		: String(a).localeCompare(String(b), "en", { numeric: true });

	// Rows whose value is missing stay below, in both directions; rows of equal value keep the order of the file.
	const sort = (table, rows, column, direction) => {
		const known = direction ? rows.filter(r => valueOf(r, column) !== null) : rows;
		const sorted = direction
			? known.slice().sort((r, s) => direction * compare(valueOf(r, column), valueOf(s, column)))
				.concat(rows.filter(r => valueOf(r, column) === null))
			: rows;
		table.tBodies[0].append(...sorted);
	};

	const makeSortable = (table, rows) => {
		const heads = [...table.tHead.rows[0].cells];
		heads.forEach((head, column) => {
			const button = document.createElement("button");
			button.type = "button";
			button.title = "sort by this column: the largest first, the smallest first, as before";
			button.append(...head.childNodes);
			head.append(button);
			head.setAttribute("aria-sort", "none");
			button.addEventListener("click", () => {
				const was = head.getAttribute("aria-sort");
				const now = { none: "descending", descending: "ascending", ascending: "none" }[was];
				heads.forEach(h => h.setAttribute("aria-sort", h === head ? now : "none"));
				sort(table, rows, column, { none: 0, descending: -1, ascending: 1 }[now]);
			});
		});
		return heads.map(h => h.textContent.trim());
	};

	// Words that a row must all contain; COLUMN=TEXT or COLUMN="TEXT" is a cell that reads so as a whole.
	const conditions = (text, names) => [...text.matchAll(/([^\s="]+)=(?:"([^"]*)"|(\S+))|(\S+)/g)].map(m => {
		const column = m[4] === undefined ? names.indexOf(m[1]) : -1;
		if (column >= 0)
			return row => row.cells[column].textContent.trim() === (m[2] ?? m[3]);
		const word = m[0].toLowerCase();
		return row => row.textContent.toLowerCase().includes(word);
	});

	const makeFilter = (table, rows, names) => {
		const label = document.createElement("label"), field = document.createElement("input");
		const count = document.createElement("output");
		label.className = "filter";
		field.type = "search";
		field.placeholder = "words of a row, or " + names[0] + "=…";
		label.append("Show rows with ", field, " ", count);
		table.parentElement.before(label);
		field.addEventListener("input", () => {
			const hold = conditions(field.value, names);
			let shown = 0;
			rows.forEach(row => {
				row.hidden = !hold.every(f => f(row));
				shown += !row.hidden;
			});
			count.value = hold.length ? shown + " of " + rows.length + " rows" : "";
		});
		return field;
	};

	const fields = new Map();
	document.querySelectorAll("table").forEach(table => {
		const rows = [...table.tBodies[0].rows];
		if (rows.length < 2)
			return;
		const names = makeSortable(table, rows);
		if (rows.length >= LONG)
			fields.set(table, makeFilter(table, rows, names));
	});

	// A layer's name opens the table of calls with the layer's rows alone.
	document.querySelectorAll("a[data-is]").forEach(link => link.addEventListener("click", event => {
		const details = document.getElementById("calls"), field = fields.get(details.querySelector("table"));
		details.open = true;
		if (!field)
			return;
		event.preventDefault();
		field.value = link.dataset.column + '="' + link.dataset.is + '"';
		field.dispatchEvent(new Event("input"));
		details.scrollIntoView();
		field.focus({ preventScroll: true });
	}));

	// In the graph of a model arrow keys go from node to node, to the left and right in the numbers of a chosen one too,
	// and Escape closes these.
	const boxes = [...document.querySelectorAll(".graph a.node")];
	const steps = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: 1, ArrowUp: -1 };
	document.addEventListener("keydown", event => {
		const numbers = document.activeElement.closest(".chosen > div"), focused = boxes.indexOf(document.activeElement);
		const open = /^#node-(\d+)$/.exec(location.hash), at = numbers && open ? Number(open[1]) : focused;
		const next = boxes[at + (steps[event.key] ?? 0)];
		if (event.key === "Escape" && open) {
			location.replace("#box-" + open[1]);
			boxes[open[1]].focus();
		} else if (at >= 0 && event.key in steps && next && !(numbers && /Up|Down/.test(event.key))) {
			event.preventDefault();
			next.focus();
			if (open)
				location.replace(next.getAttribute("href"));
		}
	});
})();
