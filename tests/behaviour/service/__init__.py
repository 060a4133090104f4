"""zygo serve."""
