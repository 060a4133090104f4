"""Containers made by hand, as Docker and Kubernetes make them: what zygo is run in to see which level it finds.

`environments.py` says what there is, `spec.py` and `seccomp.py` write it down for runc, `engine.py` runs it; `image.py`
drives podman; `caretaker.py` and `surroundings.py` are programs that run inside.
"""
