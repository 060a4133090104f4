"""Compares line by line; small and large letters differ only where "exact" is said."""

import sys

answer = open(sys.argv[2]).read().split()
output = sys.stdin.read().split()
if "exact" not in sys.argv[4:]:
    answer, output = [word.lower() for word in answer], [word.lower() for word in output]
sys.exit(42 if answer == output else 43)
