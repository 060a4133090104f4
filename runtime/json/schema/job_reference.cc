// The reference page of jobs, written from the table that validates them.

#include "runtime/json/job/job_fields.h"
#include "runtime/json/job/job_json.h"

namespace runtime {

namespace {

constexpr std::string_view kHead = R"md(# The job

A job is one JSON object: a line of `zygo batch`, the body of `POST /v1/jobs`, or the object that
`zygo run` makes of its arguments. Every field except `source` has a default; the smallest job is
`{"source": "print(1)"}`. Unknown fields, wrong types, values out of range and repeated keys are
errors (`BadJob`) that name the path. Sizes are binary: 1 kb is 1024 bytes.

This page is generated from the table that validates jobs: change `runtime/json/job/job_fields.cc`, then
run `ZYGO_REGENERATE=1 zygo_unit_tests` in the root of the repository.

| field | type | default | meaning |
|---|---|---|---|
)md";

constexpr std::string_view kTail = R"md(
## Values

`inputs`, `calls` and the `value` of a result are JSON. Values that JSON cannot express have one
tagged form, the same in both directions; in a job, `"$type"` is the first key of its object.

| value | form |
|---|---|
| bytes | `{"$type": "bytes", "data": "aGk="}` |
| nan, infinities | `{"$type": "float", "value": "nan"}`, `"inf"`, `"-inf"` |
| complex | `{"$type": "complex", "real": 1.0, "imag": -2.0}` |
| tuple, set, frozenset | `{"$type": "tuple", "items": [1, 2]}` |
| dict with other keys than strings, or with the key `$type` | `{"$type": "dict", "items": [[1, "one"]]}` |
| numpy array | `{"$type": "ndarray", "dtype": "int64", "shape": [2, 2], "data": [[1, 2], [3, 4]]}` |

Integers keep all their digits, up to 4300. Floats are written in the shortest form that reads back
as the same number, and `1.0` stays `1.0`.

## Tests

With `tests`, one job is many runs of one program: it is compiled once, and each test is a fork of
its own with the job's limits. The result has `tests` (a verdict each) and `summary`; its label is
`OK` or that of the first test, in their order, that failed. A test is an object of

| field | meaning |
|---|---|
| `name` | unique; `test-N` by default |
| `stdin`, `argv` | script mode |
| `files` | as the job's: placed before this test's run and absent in all others; one replaces the job's file of that name |
| `args`, `kwargs` | call mode: one call of `func` |
| `expect` | the expected stdout or value; without it, ending well is enough |
| `compare` | `lines` (the default of output: blanks at ends do not count), `exact`, `tokens`, `float:TOLERANCE` (absolute or relative), `json` (the default of values), `checker`; values by `json`, `float:TOLERANCE` or `exact` |

Expectations are compared outside the sandbox and never enter it. A difference is `WrongAnswer`,
with `where`, `expected` and `got`.

Of values, `json` compares what they look like as JSON: 1 and 1.0 are the same. `exact` compares
types and values, and names the types where these differ (`"got": "1.0 (float)"`): 1, 1.0 and `true`
differ, and so do a list and a tuple, 0.0 and -0.0, arrays of other dtype or shape. nan is nan, and
the order of a dict or set does not count. `expect` then has the forms of [Values](#values). A scalar
of numpy counts as the number that it is; with `array`, an array counts as the list that it becomes.

A `checker` is a program in a cell of its own:
`{"template", "source", "files", "sources", "compiler_flags", "argv", "protocol", "feedback"}`, the
first five as a job's (`source` only as a string). `"testlib"` (the default) gets the arguments
`input.txt output.txt answer.txt` and exits with 0 for right, 1 or 2 for wrong; `"icpc"` gets
`input.txt answer.txt feedback/` and the output on stdin, and exits with 42 or 43. Any other end is
`BadJob`, because the caller's checker failed.

An `interactor` is such a program that talks with the job's program, their pipes crossed; both begin
at the same time, in two cells. Its exit code is its judgement. Limits, breaches and failures of the
program remain the program's; if the two wait for each other, the detail says `deadlock`.

Either may give a score: a `"testlib"` one by ending with 7 and beginning stderr with
`points NUMBER` (`quitp`), an `"icpc"` one by leaving a number in `feedback/score.txt` or
`feedback/score_multiplier.txt`. The test's result then has `score` or `score_multiplier`, and
`summary` the sum of the scores as `score`. A test with points is `OK`, however few they are; a
score that is no number is `BadJob`. With `"feedback": true`, an `"icpc"` one's files below
`feedback/` come back in the test's result, as `feedback` (and `feedback_refused`), in the form of
`outputs`; they come back however the program ended.

## Outputs

`outputs` names files by globs. They are read when the last process of the job is gone, and come
back in the result's `outputs` as `{"text"}` or `{"b64"}` with `bytes` and `executable`. Links,
pipes, devices and files that do not fit into `limits.outputs_kb` are in `outputs_refused`, with the
reason. Comparing names with globs is bounded, too, by some tenths of a second and by
`limits.cpu_ms`: the last refusal then says that there was more work than that, and where it
stopped.

## Defaults

`zygo batch --defaults FILE` takes one object of the same schema that lies under every job. Objects
(`limits`, `policy`, `determinism`, `env`, `files`) are merged by key; everything else is replaced.
)md";

}  // namespace

std::string jobs_reference_markdown() {
  std::string page(kHead);
  for (const Field& field : job_fields()) {
    page += "| `" + std::string(field.path) + "` | " + type_of(field) + " | " + default_of(field) +
            " | " + std::string(field.meaning) + " |\n";
  }
  page += kTail;
  return page;
}

}  // namespace runtime
