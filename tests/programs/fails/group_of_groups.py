# zygo: {"job": {}, "label": "ExceptionGroup", "exception": {"type": "ExceptionGroup"}, "max_result_kb": 128}
group = ValueError("innermost")
for number in range(150):
    group = ExceptionGroup("x" * 5000, [group] * 20)
raise group
