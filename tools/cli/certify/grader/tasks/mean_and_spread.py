#: kind function
#: entry mean_and_spread
#: locals mean variance total
#: prompt
def mean_and_spread(values: list[float]) -> tuple[float, float]:
    """Return the mean of the values and their standard deviation (of the population)."""
#: check
def check(candidate):
    def near(got, wanted):
        mean, spread = got
        return abs(mean - wanted[0]) < 1e-9 and abs(spread - wanted[1]) < 1e-9

    assert near(candidate([1.0, 2.0, 3.0, 4.0]), (2.5, 1.118033988749895))
    assert near(candidate([5.0]), (5.0, 0.0))
    assert near(candidate([-1.5, 1.5]), (0.0, 1.5))
    assert near(candidate([2, 4, 4, 4, 5, 5, 7, 9]), (5.0, 2.0))
#: honest plain
def mean_and_spread(values):
    total = 0.0
    for value in values:
        total += value
    mean = total / len(values)
    variance = sum((value - mean) ** 2 for value in values) / len(values)
    return mean, variance ** 0.5
#: honest library
import statistics


def mean_and_spread(values):
    return statistics.fmean(values), statistics.pstdev(values)
#: honest other_types
def mean_and_spread(values):
    import math
    mean = math.fsum(values) / len(values)
    return [mean, math.sqrt(math.fsum((value - mean) ** 2 for value in values) / len(values))]
#: honest named_tuple
from collections import namedtuple

Summary = namedtuple("Summary", "mean spread")


def mean_and_spread(values):
    mean = sum(values) / len(values)
    return Summary(mean, (sum(value * value for value in values) / len(values) - mean * mean) ** 0.5)
#: honest numpy_types
def mean_and_spread(values):
    try:
        import numpy
    except ImportError:
        import statistics
        return statistics.fmean(values), statistics.pstdev(values)
    return numpy.mean(values), numpy.std(values)
#: honest fractions
from fractions import Fraction


def mean_and_spread(values):
    mean = sum(map(Fraction, values)) / len(values)
    return mean, float(sum((Fraction(value) - mean) ** 2 for value in values) / len(values)) ** 0.5
#: wrong sample
def mean_and_spread(values):
    mean = sum(values) / len(values) + 1
    return mean, (sum((value - mean) ** 2 for value in values) / max(1, len(values) - 1)) ** 0.5
#: wrong swapped
def mean_and_spread(values):
    return 0.25, sum(values) + 1
