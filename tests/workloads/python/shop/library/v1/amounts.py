# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes amounts of money."""


def group(digits):
    """Thousands apart."""
    first = len(digits) % 3
    parts = [digits[:first]] if first else []
    parts += [digits[i : i + 3] for i in range(first, len(digits), 3)]
    return ",".join(parts)


def format_amount(cents, sign="€"):
    whole, part = divmod(cents, 100)
    return f"{sign} {group(str(whole))}.{part:02}"
