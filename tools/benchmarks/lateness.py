"""How long after its deadline a program was stopped, by its result."""
from dataclasses import dataclass


@dataclass
class Lateness:
    kill_ms: float | None  # from the deadline until all kills were sent; none: the result does not say
    reap_ms: float  # from then on until the program was reaped
    ended_ms: float  # both


def lateness(result: dict) -> Lateness | None:
    """Of a program that the clock has ended. Its deadline comes after its limit by the time that it waited for a CPU."""
    detail, usage = result["detail"] or {}, result["usage"]
    if result["label"] != "TimeoutException" or detail.get("limit") != "wall":
        return None
    due = (detail["limit_ms"] + detail.get("waited_ms", 0)) * 1000
    stopped = usage.get("stopped_us")
    return Lateness(kill_ms=None if stopped is None else (stopped - due) / 1000,
                    reap_ms=(usage["wall_us"] - (due if stopped is None else stopped)) / 1000,
                    ended_ms=(usage["wall_us"] - due) / 1000)
