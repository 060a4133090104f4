"""The parts of tools/test-cluster: real batch engines on this machine, and pilots that they start."""
