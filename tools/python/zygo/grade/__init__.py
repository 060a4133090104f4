"""For graders: programs of language models against inputs, tests and stdin, with the names that existing graders use.

What is expected is compared outside of the sandbox (`safe_code_execution`, `CodeRunner`, `check_stdin`), or, where a
problem's own test code must decide (`check_correctness`), in a sandbox of its own that the program cannot reach.
"""

from ..errors import MemoryLimitExceeded, NonDeterministicCode, TimeoutException, UnsafeCode
from .checking import check_correctness, check_stdin, pass_at_k
from .execution import safe_code_execution
from .runner import CodeRunner, Outcome, Program, Report
from .suites.jobs import HARNESS
from .testing import SuiteResult, TestOutcome, run_tests

__all__ = ["HARNESS", "CodeRunner", "MemoryLimitExceeded", "NonDeterministicCode", "Outcome", "Program", "Report", "SuiteResult",
           "TestOutcome", "TimeoutException", "UnsafeCode", "check_correctness", "check_stdin", "pass_at_k", "run_tests",
           "safe_code_execution"]
