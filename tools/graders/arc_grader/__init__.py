"""The ARC grader: predictions in, sandboxed runs by `zygo batch`, labels and metrics out."""
