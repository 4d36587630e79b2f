# SPDX-License-Identifier: GPL-3.0-or-later
print(("A paragraph with much plain text, and some *emphasis* in it, <b>html</b> & \"quotes\".\n" * 6 + "\n") * 12000)
