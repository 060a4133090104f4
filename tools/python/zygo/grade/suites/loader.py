import base64
import json
import marshal
import sys
import types
import zlib


def start(text: str) -> None:
    """Puts the harness's modules into their package, and calls `main` of the last one."""
    order = json.loads(text)
    sys.modules["zygo_suite"] = package = types.ModuleType("zygo_suite")
    package.__path__ = []
    codes = marshal.loads(zlib.decompress(base64.b64decode(order["compiled"]))) if "compiled" in order else {}
    for name in order["modules"]:
        module = types.ModuleType("zygo_suite." + name)
        module.__package__ = "zygo_suite"
        sys.modules[module.__name__] = module
        setattr(package, name, module)
        exec(codes.get(name) or compile(order["sources"][name], name + ".py", "exec"), module.__dict__)
    module.main(**order["with"])
