# many imports of the standard library
import collections, contextlib, copy, datetime, decimal, enum, functools, heapq, itertools, json, math, operator, random
import re, string, sys, time, typing
from typing import Dict, List, Tuple

random.seed(0)
sys.setrecursionlimit(10_000)
# PROGRAM
