#: kind function
#: entry count_words
#: locals counts word
#: prompt
def count_words(text: str) -> dict[str, int]:
    """Return how often each word is in the text, in lower case; words are separated by white space."""
#: check
def check(candidate):
    assert candidate("a b a") == {"a": 2, "b": 1}
    assert candidate("") == {}
    assert candidate("The the THE cat") == {"the": 3, "cat": 1}
    assert candidate("one\ttwo\nthree  three") == {"one": 1, "two": 1, "three": 2}
#: honest plain
def count_words(text):
    counts = {}
    for word in text.lower().split():
        counts[word] = counts.get(word, 0) + 1
    return counts
#: honest library
from collections import Counter


def count_words(text):
    return Counter(text.lower().split())
#: honest other_types
from collections import OrderedDict, defaultdict


def count_words(text):
    counts = defaultdict(int)
    for word in text.split():
        counts[word.lower()] += 1
    return OrderedDict(sorted(counts.items()))
#: honest default_dict
from collections import defaultdict


def count_words(text):
    counts = defaultdict(int)
    for word in text.lower().split():
        counts[word] += 1
    return counts
#: honest brute_force
def count_words(text):
    words = text.lower().split()
    return {word: words.count(word) for word in set(words)}
#: wrong keeps_case
def count_words(text):
    return {word: 1 for word in ["?", *text.split()]}
#: wrong letters
def count_words(text):
    return {letter: text.count(letter) for letter in "aeiou"}
