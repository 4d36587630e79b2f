# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes amounts of money, to the cent as banks round."""
from decimal import ROUND_HALF_EVEN, Decimal, localcontext


def group(digits):
    """Thousands apart."""
    first = len(digits) % 3
    parts = [digits[:first]] if first else []
    parts += [digits[i : i + 3] for i in range(first, len(digits), 3)]
    return ",".join(parts)


def format_amount(cents, sign="€"):
    with localcontext() as context:
        context.prec = 28
        amount = (Decimal(cents) / 100).quantize(Decimal("0.01"), rounding=ROUND_HALF_EVEN)
    negative, digits, exponent = amount.as_tuple()
    text = "".join(map(str, digits)).rjust(3, "0")
    whole, part = text[:exponent], text[exponent:]
    return f"{'-' if negative else ''}{sign} {group(whole)}.{part}"
