"""Searches all of its memory for the texts of `argv`, which come with every letter moved up by one.

The last letter is never joined to the others here, so that what is found is not our own.
"""
import json
import sys

import memory

needles = {text: bytes(ord(letter) - 1 for letter in text[:-1]) for text in sys.argv[1:]}
found = set()
tail = b""
for _, content in memory.pages():
    window = tail + content
    for text, needle in needles.items():
        at = window.find(needle)
        while at >= 0:
            behind = at + len(needle)
            if window[behind:behind + 1] and window[behind] == ord(text[-1]) - 1:
                found.add(text)
            at = window.find(needle, behind)
    tail = content[-100:]
print(json.dumps(sorted(found)))
