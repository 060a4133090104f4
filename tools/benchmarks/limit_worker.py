"""A warm, untreated interpreter that forks jobs on request. Started by limit.py; speaks lines of JSON.

argv: the limit module, then the modules to load. Each request is `[program, n]`; each answer the list of microseconds.
Imports as little as it can: every page of this process is paid for by every fork.
"""
import sys
from importlib.machinery import ExtensionFileLoader
from importlib.util import module_from_spec, spec_from_loader

for name in sys.argv[2:]:
    try:
        __import__(name)
    except ImportError:
        print("limit: cannot load", name, file=sys.stderr)
import json

loader = ExtensionFileLoader("zygo_limit", sys.argv[1])
limit = module_from_spec(spec_from_loader("zygo_limit", loader))
loader.exec_module(limit)

print(json.dumps(len(sys.modules)), flush=True)
for line in sys.stdin:
    program, n = json.loads(line)
    print(json.dumps(limit.fork_bench(n, compile(program, "<job>", "exec"))), flush=True)
