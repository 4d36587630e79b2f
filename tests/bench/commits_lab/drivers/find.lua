-- SPDX-License-Identifier: GPL-3.0-or-later
local text = string.rep("a long line of text without that character ", 500) .. "zebra"
local sum = 0
for i = 1, 4000 do
  sum = sum + text:find("zebra", 1, true)
  if i % 10 == 0 then sum = sum + #text:gsub("line", "row") end
end
print(sum)
