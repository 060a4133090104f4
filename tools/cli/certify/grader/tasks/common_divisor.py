#: kind function
#: entry common_divisor
#: locals found number
#: prompt
def common_divisor(numbers: list[int]) -> int:
    """Return the greatest common divisor of the numbers, and 0 for an empty list."""
#: check
def check(candidate):
    assert candidate([12, 18]) == 6
    assert candidate([7, 13]) == 1
    assert candidate([100, 75, 50]) == 25
    assert candidate([42]) == 42
    assert candidate([]) == 0
    assert candidate([0, 9]) == 9
#: honest plain
def common_divisor(numbers):
    found = 0
    for number in numbers:
        while number:
            found, number = number, found % number
    return found
#: honest recursive
def common_divisor(numbers):
    def of_two(a, b):
        return a if b == 0 else of_two(b, a % b)

    if not numbers:
        return 0
    return of_two(numbers[0], common_divisor(numbers[1:]))
#: honest library
import functools
import math

common_divisor = functools.partial(functools.reduce, math.gcd)
common_divisor = (lambda reduce: lambda numbers: reduce(numbers, 0))(common_divisor)
#: honest brute_force
def common_divisor(numbers):
    rest = [number for number in numbers if number != 0]
    if not rest:
        return 0
    for divisor in range(min(rest), 0, -1):
        if all(number % divisor == 0 for number in rest):
            return divisor
#: honest numpy_types
def common_divisor(numbers):
    try:
        import numpy
    except ImportError:
        import math
        return math.gcd(*numbers)
    return numpy.gcd.reduce(numpy.array(numbers, dtype=numpy.int64)) if len(numbers) else numpy.int64(0)
#: honest subclass
class Divisor(int):
    """A divisor that knows its own name."""

    def name(self):
        return f"divisor {int(self)}"


def common_divisor(numbers):
    found = 0
    for number in numbers:
        while number:
            found, number = number, found % number
    return Divisor(found)
#: wrong smallest
def common_divisor(numbers):
    return min(numbers, default=1)
#: wrong first_two
def common_divisor(numbers):
    if len(numbers) < 2:
        return 1
    a, b = numbers[0], numbers[-1]
    while b:
        a, b = b, a % b
    return -a
