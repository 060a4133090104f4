"""States of an interpreter that sessions keep: lists and dicts, with text and floats in them."""

ROW = "{'name': f'row {i}', 'values': [i * 0.5 + j for j in range(8)], 'next': {i: str(i)}}"
STATES = {"no data": 0, "1 MB": 1000, "6 MB": 6500, "31 MB": 32_500}  # rows, of nearly a kilobyte each


def source_of(rows: int) -> str:
    return f"state = [{ROW} for i in range({rows})]"
