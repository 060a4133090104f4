"""What the bench draws: charts as SVG, a page of them, and the few that docs/measurements.md shows."""
from .page import page, write_pictures

__all__ = ["page", "write_pictures"]
