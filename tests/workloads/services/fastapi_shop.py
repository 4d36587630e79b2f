# SPDX-License-Identifier: GPL-3.0-or-later
"""A service of FastAPI below uvicorn. CHANGE names what its next release does in another way."""
import os
import time
from typing import List, Optional

import fastapi
import pydantic
from fastapi.encoders import jsonable_encoder

import count

CHANGE = os.environ.get("CHANGE", "")


class Line(pydantic.BaseModel):
    sku: str
    amount: int
    price: float
    note: Optional[str] = None


class Order(pydantic.BaseModel):
    id: int
    customer: str
    lines: List[Line]


ROWS = [{"id": str(i), "customer": f"customer {i}",
         "lines": [{"sku": f"sku-{i}-{k}", "amount": str(k), "price": f"{k}.25"} for k in range(6)]} for i in range(25)]

app = fastapi.FastAPI()
counted = count.Count()


def read_orders():
    return [Order(**row) for row in ROWS]


def price_of(orders):
    return sum(line.amount * line.price for order in orders for line in order.lines)


def ask_stock():
    time.sleep(0.004)


@app.get("/orders")
async def orders():
    counted.add()
    found = read_orders()
    if CHANGE == "stock":
        ask_stock()
    if CHANGE == "encoder":
        return {"price": price_of(found), "orders": len(jsonable_encoder(found))}
    return {"price": price_of(found), "orders": len(found)}
