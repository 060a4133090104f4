"""mkdocs calls this: headings are named as a forge names them, so that the links of the documents hold."""
from __future__ import annotations

import re
from typing import Any


def slug(heading: str, separator: str) -> str:
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", separator)


def on_config(config: Any) -> Any:
    config["mdx_configs"].setdefault("toc", {})["slugify"] = slug
    return config
