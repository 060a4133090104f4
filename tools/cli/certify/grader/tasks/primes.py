#: kind function
#: entry primes
#: locals found number
#: prompt
def primes(limit: int):
    """Return the primes below the limit, in order, as any iterable."""
#: check
def check(candidate):
    assert list(candidate(20)) == [2, 3, 5, 7, 11, 13, 17, 19]
    assert list(candidate(2)) == []
    assert list(candidate(3)) == [2]
    assert sum(candidate(100)) == 1060
#: honest plain
def primes(limit):
    found = []
    for number in range(2, limit):
        if all(number % prime for prime in found):
            found.append(number)
    return found
#: honest generator
def primes(limit):
    for number in range(2, limit):
        if all(number % divisor for divisor in range(2, int(number ** 0.5) + 1)):
            yield number
#: honest other_types
def primes(limit):
    sieve = [True] * limit
    for number in range(2, limit):
        if sieve[number]:
            for multiple in range(number * number, limit, number):
                sieve[multiple] = False
    return tuple(number for number in range(2, limit) if sieve[number])
#: honest iterator
class primes:
    def __init__(self, limit):
        self.limit, self.at = limit, 1

    def __iter__(self):
        return self

    def __next__(self):
        while True:
            self.at += 1
            if self.at >= self.limit:
                raise StopIteration
            if all(self.at % divisor for divisor in range(2, self.at)):
                return self.at
#: honest library
def primes(limit):
    return filter(lambda number: all(map(number.__mod__, range(2, number))), range(2, limit))
#: wrong odd
def primes(limit):
    return list(range(1, limit, 2))
#: wrong inclusive
def primes(limit):
    return [number for number in range(1, limit + 1) if number < 4]
