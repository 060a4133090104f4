import zygo


@zygo.parallel(ncpus=8, timeout=2)
def count_primes(start, stop):
    if start == 40_000:
        raise ValueError("not this one")
    return sum(all(n % d for d in range(2, int(n**0.5) + 1)) for n in range(max(start, 2), stop))


inputs = [(n, n + 10_000) for n in range(0, 60_000, 10_000)]
for (args, kwargs), value in sorted(count_primes(inputs), key=lambda pair: pair[0][0]):
    print(args, value if isinstance(value, int) else value.label)
