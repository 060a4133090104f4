"""What most graders do: one program in a fresh interpreter. A call-mode job comes by stdin; its end is the last line.

Runs as `python3 -I -c THIS`, with no isolation, no limits and no verdict beyond the exception's name.
"""
import json
import sys

job = json.load(sys.stdin)
answer = {"label": "OK"}
try:
    if job.get("array"):
        import numpy

        def argument(value):
            return numpy.array(value, dtype=int)
    else:
        def argument(value):
            return value
    names = {"__name__": "__main__"}
    exec(compile(job["source"], "<job>", "exec"), names)
    value = [names[job["func"]](argument(one)) for one in job["inputs"]]
    answer["value"] = [v.tolist() if hasattr(v, "tolist") else v for v in value]
    text = json.dumps(answer, default=str)
except BaseException as error:
    text = json.dumps({"label": type(error).__name__})
sys.stdout.write("\n" + text + "\n")
