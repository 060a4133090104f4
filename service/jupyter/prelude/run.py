"""The kernel's calls: a cell, and questions about what cells left. Each call is a step of a session."""

import __future__
import ast
import builtins
import json
import linecache
import sys

from zygo_kernel import channel, data, errors, figures, magics, transform

CO_COROUTINE = 0x80
AWAITING = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
FUTURES = {getattr(__future__, name).compiler_flag for name in __future__.all_feature_names}

names = {}  # of the cells
future = 0  # what they said from __future__
has_result = False


def begin(word, its_names, is_notebook):
    global names
    names = its_names
    channel.begin(word, not is_notebook)
    errors.begin(is_notebook)
    magics.begin(names, is_notebook)
    figures.begin()
    builtins.__zygo_help__ = page
    from IPython.display import display
    builtins.display = display
    names.update({"In": [""], "Out": {}, "_": "", "__": "", "___": ""})
    channel.say("python", version=sys.version.split()[0])


def compiled(tree, name, how):
    global future
    code = compile(tree, name, how, AWAITING | future, True)
    future |= sum(flag for flag in FUTURES if code.co_flags & flag)
    return code


def parts_of(source, name):
    """All but the last expression, and that."""
    tree = compile(source, name, "exec", ast.PyCF_ONLY_AST | AWAITING | future, True)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    statements = compiled(tree, name, "exec")
    return statements, compiled(ast.Expression(last.value), name, "eval") if last else None


def evaluate(source, name):
    """Runs it, and returns the value of its last expression."""
    codes = [code for code in parts_of(source, name) if code is not None]
    if not any(code.co_flags & CO_COROUTINE for code in codes):
        values = [eval(code, names) for code in codes]
    else:
        import asyncio

        async def all_of_them():
            return [await eval(code, names) if code.co_flags & CO_COROUTINE else eval(code, names) for code in codes]

        values = asyncio.run(all_of_them())
    return values[1] if len(values) == 2 else None


def show_result(value, count, is_noted):
    if value is None:
        return
    if is_noted:
        names["___"], names["__"], names["_"] = names.get("__"), names.get("_"), value
        names[f"_{count}"] = value
        if isinstance(names.get("Out"), dict):
            names["Out"][count] = value
    own = getattr(type(value), "_ipython_display_", None)
    if own is not None:
        return own(value)
    shown, metadata = channel.bundle_of(value)
    channel.say("execute_result", data=shown, metadata=metadata, execution_count=count)


def expressions(wanted):
    made = {}
    for name, text in wanted.items():
        try:
            shown, metadata = channel.bundle_of(eval(text, names))
            made[name] = {"status": "ok", "data": shown, "metadata": metadata}
        except Exception as error:
            made[name] = {"status": "error", **errors.told(error)}
    return made


def cell(text):
    request = json.loads(text)
    code, count = request["code"], request["count"]
    channel.may_ask = request["may_ask"]
    pages.clear()
    channel.mend()
    data.room = data.MOST_OF_CELL
    name = f"Cell In[{count}]" if request["noted"] else "<cell without a number>"
    linecache.cache[name] = (len(code), None, code.splitlines(True), name)
    if request["noted"] and isinstance(names.get("In"), list):
        names["In"] += [""] * (count + 1 - len(names["In"]))
        names["In"][count] = code
    try:
        value = evaluate(transform.python_of(code), name)
        if not request["silent"] and not code.rstrip().endswith(";"):
            show_result(value, count, request["noted"])
        figures.show()
        answer = {"status": "ok", "payload": [*pages], "user_expressions": expressions(request["expressions"])}
    except BaseException as error:  # the next cell runs whatever happened in this one
        answer = {"status": "error", **errors.told(error)}
    figures.close_fonts()
    channel.say("done", **answer)


pages = []


def page(name, detail):
    from zygo_kernel import questions
    text = questions.description(name, detail)
    if text is None:
        print(f"Object `{name}` not found.")
    else:
        pages.append({"source": "page", "data": {"text/plain": text}, "start": 0})


def complete(text):
    from zygo_kernel import questions
    channel.say("done", **questions.complete(json.loads(text), names))


def inspect(text):
    from zygo_kernel import questions
    channel.say("done", **questions.inspect(json.loads(text)))


def is_complete(text):
    from zygo_kernel import questions
    channel.say("done", **questions.is_complete(json.loads(text)["code"]))
