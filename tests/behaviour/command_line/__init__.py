"""zygo's commands, their help and their documents."""
