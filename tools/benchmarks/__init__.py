"""The rows of tools/bench; see README.md."""
