"""Templates, cells and builds over time."""
