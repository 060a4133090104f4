#: kind function
#: entry parse_duration
#: locals seconds digits letter
#: prompt
def parse_duration(text: str) -> int:
    """Return the seconds of a duration such as "1h30m" (h, m and s); raise ValueError for anything else."""
#: check
def check(candidate):
    assert candidate("90s") == 90
    assert candidate("1h30m") == 5400
    assert candidate("2h0m5s") == 7205
    for bad in ("", "h", "10", "5x"):
        try:
            candidate(bad)
        except ValueError:
            continue
        assert False, bad
#: honest plain
def parse_duration(text):
    seconds, digits = 0, ""
    if not text:
        raise ValueError("empty")
    for letter in text:
        if letter.isdigit():
            digits += letter
        elif letter in "hms" and digits:
            seconds += int(digits) * {"h": 3600, "m": 60, "s": 1}[letter]
            digits = ""
        else:
            raise ValueError(letter)
    if digits:
        raise ValueError("no unit")
    return seconds
#: honest library
import re


def parse_duration(text):
    match = re.fullmatch(r"(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?", text)
    if not match or not match[0]:
        raise ValueError(f"not a duration: {text!r}")
    hours, minutes, seconds = (int(part or 0) for part in match.groups())
    return hours * 3600 + minutes * 60 + seconds
#: honest raises_within
def parse_duration(text):
    def parts():
        rest = text
        while rest:
            at = min(rest.index(unit) for unit in "hms" if unit in rest)
            yield int(rest[:at]), rest[at]
            rest = rest[at + 1:]

    found = list(parts())
    if not found:
        raise ValueError
    try:
        return sum(count * {"h": 3600, "m": 60, "s": 1}[unit] for count, unit in found)
    finally:
        found.clear()
#: wrong never_raises
def parse_duration(text):
    return len(text) + 1
#: wrong minutes
def parse_duration(text):
    return -int("".join(letter for letter in text if letter.isdigit()) or 1)
