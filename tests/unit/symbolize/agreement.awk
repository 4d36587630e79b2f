# SPDX-License-Identifier: GPL-3.0-or-later
# Compares answers in addr2line's form: awk -v label=L -f agreement.awk KELVIN PEER... (files). Prints a row of the table; what Kelvin
# says otherwise than two peers that agree goes to the file `details`.

# Paths without /./ and x/.., names without blanks, lines without discriminators, "?" as 0: what tools write differently for one thing.
function path(text,    before) {
	do {
		before = text
		gsub(/\/\.\//, "/", text)
		sub(/\/[^\/.][^\/]*\/\.\.\//, "/", text)
	} while (text != before)
	sub(/^\.\//, "", text)
	return text
}

function without_variant(name) {
	if (name !~ /^_Z/) return name
	gsub(/C[1245]E/, "C1E", name)
	gsub(/C[1245]I/, "C1I", name)
	gsub(/D[1245]E/, "D1E", name)
	return name
}

function flush() {
	if (asked[file]) answer[file, asked[file]] = chain
	chain = ""
}

FNR == 1 { flush_last(); file++; tool[file] = FILENAME }
/^0x[0-9a-f]+$/ { flush(); asked[file]++; address[asked[file]] = $0; is_name = 1; next }
asked[file] && NF {
	if (is_name) {
		name = $0
		gsub(/ /, "", name)
		# Peers take the outermost name from the symbol table: with marks of the compiler's that Kelvin leaves out, and of the
		# several symbols of a constructor any one; they all read alike.
		name = without_variant(name)
		while (sub(/\.(abi0|cold|isra\.[0-9]+|constprop\.[0-9]+|part\.[0-9]+|lto_priv\.[0-9]+|llvm\.[0-9]+)$/, "", name)) continue
	} else {
		place = $0
		sub(/ \(discriminator [0-9]+\)$/, "", place)
		sub(/:\?$/, ":0", place)
		chain = chain name "|" path(place) "\n"
	}
	is_name = !is_name
}
function flush_last() { if (file) flush() }

# A peer may leave out the scopes of a function that has no linkage name.
function same_name(mine, theirs) {
	if (mine == theirs) return 1
	return length(mine) > length(theirs) + 2 && substr(mine, length(mine) - length(theirs) - 1) == "::" theirs
}

function same(a, b,    x, y, n, m, i, p, q) {
	if (a == b) return 1
	n = split(a, x, "\n"); m = split(b, y, "\n")
	if (n != m) return 0
	for (i = 1; i < n; i++) {
		split(x[i], p, "|"); split(y[i], q, "|")
		if (p[2] != q[2] || !(same_name(p[1], q[1]) || same_name(q[1], p[1]))) return 0
	}
	return 1
}

END {
	flush_last()
	for (i = 1; i <= asked[1]; i++) {
		found = 0
		for (a = 2; a <= file; a++) for (b = a + 1; b <= file; b++)
			if (!found && same(answer[a, i], answer[b, i]) && answer[a, i] !~ /^\?\?\|/) { found = 1; truth = answer[a, i] }
		for (a = 2; a <= file; a++) if (same(answer[1, i], answer[a, i])) equal[a]++
		if (!found) continue
		agreed++
		if (same(answer[1, i], truth)) right++
		else { printf "%s %s\n kelvin:\n%s others:\n%s", label, address[i], answer[1, i], truth >> details }
	}
	printf "%-26s %7d %9d %8.2f", label, asked[1], agreed, agreed ? 100 * right / agreed : 100
	for (a = 2; a <= file; a++) printf " %8.2f", 100 * equal[a] / asked[1]
	printf "\n"
	exit agreed && 100 * right / agreed < least
}
