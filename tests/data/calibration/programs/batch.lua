-- SPDX-License-Identifier: GPL-3.0-or-later
-- Reads lines of text, counts, matches and sorts: batch.lua FOLDER.
local counts, lines, found = {}, {}, 0
for line in io.lines(arg[1] .. "/text") do
	for word in line:gmatch("%a+") do counts[word] = (counts[word] or 0) + 1 end
	if line:find("[a-f]+%a* %a*[aeiou][aeiou]") then found = found + 1 end
	lines[#lines + 1] = line:reverse()
	if #lines == 120000 then break end
end
table.sort(lines)
print(#lines, found, lines[1])
