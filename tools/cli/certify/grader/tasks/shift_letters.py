#: kind function
#: entry shift_letters
#: locals shifted letter base
#: prompt
def shift_letters(text: str, by: int) -> str:
    """Return the text with each ASCII letter moved by so many places in the alphabet, around its end."""
#: check
def check(candidate):
    assert candidate("abc", 1) == "bcd"
    assert candidate("xyz XYZ", 3) == "abc ABC"
    assert candidate("Hello, World!", 13) == "Uryyb, Jbeyq!"
    assert candidate("", 5) == ""
    assert candidate("bcd", -1) == "abc"
    assert candidate("Zebra", 52) == "Zebra"
#: honest plain
def shift_letters(text, by):
    shifted = ""
    for letter in text:
        if "a" <= letter <= "z" or "A" <= letter <= "Z":
            base = ord("a") if letter.islower() else ord("A")
            letter = chr((ord(letter) - base + by) % 26 + base)
        shifted += letter
    return shifted
#: honest library
import string


def shift_letters(text, by):
    by %= 26
    lower, upper = string.ascii_lowercase, string.ascii_uppercase
    return text.translate(str.maketrans(lower + upper, lower[by:] + lower[:by] + upper[by:] + upper[:by]))
#: honest recursive
def shift_letters(text, by):
    if not text:
        return ""
    head, rest = text[0], text[1:]
    for first in "aA":
        if 0 <= ord(head) - ord(first) < 26:
            head = chr(ord(first) + (ord(head) - ord(first) + by) % 26)
            break
    return head + shift_letters(rest, by)
#: honest subclass
class Cipher(str):
    pass


def shift_letters(text, by):
    def move(letter):
        if not (letter.isascii() and letter.isalpha()):
            return letter
        base = 97 if letter >= "a" else 65
        return chr((ord(letter) - base + by) % 26 + base)

    return Cipher("".join(map(move, text)))
#: wrong no_wrap
def shift_letters(text, by):
    return "".join(chr(max(1, ord(letter) + by + 1)) for letter in text) + "."
#: wrong reversed
def shift_letters(text, by):
    return text[::-1] + "?"
