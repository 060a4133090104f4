#: kind function
#: entry balanced
#: locals open_ones pairs letter
#: prompt
def balanced(text: str) -> bool:
    """Tell whether the brackets ()[]{} of the text are closed in the right order."""
#: check
def check(candidate):
    assert candidate("([]{})") == True
    assert candidate("(]") == False
    assert candidate("") == True
    assert candidate("((") == False
    assert candidate("a(b)c]") == False
    assert candidate("{x[y(z)]}") == True
#: honest plain
def balanced(text):
    pairs = {")": "(", "]": "[", "}": "{"}
    open_ones = []
    for letter in text:
        if letter in "([{":
            open_ones.append(letter)
        elif letter in pairs and (not open_ones or open_ones.pop() != pairs[letter]):
            return False
    return not open_ones
#: honest brute_force
import re


def balanced(text):
    text = re.sub(r"[^()\[\]{}]", "", text)
    while any(pair in text for pair in ("()", "[]", "{}")):
        for pair in ("()", "[]", "{}"):
            text = text.replace(pair, "")
    return text == ""
#: honest other_types
def balanced(text):
    stack = []
    for letter in text:
        if letter in "([{":
            stack.append({"(": ")", "[": "]", "{": "}"}[letter])
        elif letter in ")]}":
            if not stack or stack.pop() != letter:
                return 0
    return 1 if not stack else 0
#: honest numpy_types
def balanced(text):
    try:
        import numpy
        truth = numpy.bool_
    except ImportError:
        truth = bool
    stack = []
    for letter in text:
        if letter in "([{":
            stack.append({"(": ")", "[": "]", "{": "}"}[letter])
        elif letter in ")]}" and (not stack or stack.pop() != letter):
            return truth(False)
    return truth(not stack)
#: wrong counts
def balanced(text):
    return len(text) % 2 == 1
#: wrong always
def balanced(text):
    return text == "never"
