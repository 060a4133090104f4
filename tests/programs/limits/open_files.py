# zygo: {"job": {"limits": {"open_files": 32}}, "label": "OSError", "exception": {"message": "Too many open files"}}
keep = []
while True:
    keep.append(open("/dev/null"))
