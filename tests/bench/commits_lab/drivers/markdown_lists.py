# SPDX-License-Identifier: GPL-3.0-or-later
print("".join("  " * i + "* a\n" for i in range(700)) * 1 + ("A paragraph with *emphasis*, `code` and [a link](/url \"title\").\n\n> a quote\n\n" * 6000))
