// The reference page of jobs, written from the table that validates them.

#include "runtime/api/job_fields.h"
#include "runtime/api/job_json.h"

namespace runtime {

namespace {

constexpr std::string_view kHead =
    "# The job\n"
    "\n"
    "One JSON object: a line of `zygo batch`, or the whole of what `zygo run` makes of its "
    "arguments.\n"
    "Every field but `source` has a default; the smallest job is `{\"source\": \"print(1)\"}`.\n"
    "Unknown fields, wrong types, values out of range and repeated keys are errors (`BadJob`) that "
    "name\n"
    "the path. Sizes are binary: 1 kb is 1024 bytes.\n"
    "\n"
    "This page is generated from the table that validates jobs: change "
    "`runtime/api/job_fields.cc`, then\n"
    "run `ZYGO_REGENERATE=1 zygo_unit_tests` in the root of the repository.\n"
    "\n"
    "| field | type | default | meaning |\n"
    "|---|---|---|---|\n";

constexpr std::string_view kTail =
    "\n"
    "## Values\n"
    "\n"
    "`inputs`, `calls` and the `value` of a result are JSON. What JSON cannot say has one tagged "
    "form, the\n"
    "same in both directions; in a job, `\"$type\"` is the first key of its object.\n"
    "\n"
    "| value | form |\n"
    "|---|---|\n"
    "| bytes | `{\"$type\": \"bytes\", \"data\": \"aGk=\"}` |\n"
    "| nan, infinities | `{\"$type\": \"float\", \"value\": \"nan\"}`, `\"inf\"`, `\"-inf\"` |\n"
    "| complex | `{\"$type\": \"complex\", \"real\": 1.0, \"imag\": -2.0}` |\n"
    "| tuple, set, frozenset | `{\"$type\": \"tuple\", \"items\": [1, 2]}` |\n"
    "| dict with other keys than strings, or with the key `$type` | "
    "`{\"$type\": \"dict\", \"items\": [[1, \"one\"]]}` |\n"
    "| numpy array | `{\"$type\": \"ndarray\", \"dtype\": \"int64\", \"shape\": [2, 2], "
    "\"data\": [[1, 2], [3, 4]]}` |\n"
    "\n"
    "Integers keep all their digits, up to 4300. Floats are written in the shortest form that "
    "reads back\n"
    "as the same number, and `1.0` stays `1.0`.\n"
    "\n"
    "## Tests\n"
    "\n"
    "With `tests`, one job is many runs of one program: it is compiled once, and each test is a "
    "fork of its "
    "own with\n"
    "the job's limits. The result has `tests` (a verdict each) and `summary`; its label is `OK` or "
    "that of "
    "the first\n"
    "test, in their order, that failed. A test is an object of\n"
    "\n"
    "| field | meaning |\n"
    "|---|---|\n"
    "| `name` | unique; `test-N` by default |\n"
    "| `stdin`, `argv` | script mode |\n"
    "| `files` | as the job's: placed before this test's run, and there in no other; one takes the "
    "place "
    "of the job's file of that name |\n"
    "| `args`, `kwargs` | call mode: one call of `func` |\n"
    "| `expect` | what stdout, or the value, must be; without it, ending well is enough |\n"
    "| `compare` | `lines` (the default of output: blanks at ends do not count), `exact`, "
    "`tokens`, "
    "`float:TOLERANCE` (absolute or relative), `json` (the default of values), `checker` |\n"
    "\n"
    "Expectations are compared outside the sandbox and never enter it. What differs is "
    "`WrongAnswer`, with "
    "`where`,\n"
    "`expected` and `got`.\n"
    "\n"
    "A `checker` is a program in a cell of its own: `{\"template\", \"source\", \"files\", "
    "\"argv\", "
    "\"protocol\"}`.\n"
    "`\"testlib\"` (the default) gets the arguments `input.txt output.txt answer.txt` and says 0 "
    "for right, "
    "1 or 2 for\n"
    "wrong; `\"icpc\"` gets `input.txt answer.txt feedback/` and the output on stdin, and says 42 "
    "or 43. Any "
    "other end\n"
    "is `BadJob`: the caller's checker broke.\n"
    "\n"
    "An `interactor` is such a program that talks with the job's, their pipes crossed; both begin "
    "at the "
    "same time, in\n"
    "two cells. It says by its exit code what it thinks. Limits, breaches and failures of the "
    "program stay "
    "its own; of\n"
    "two that wait for each other the detail says `deadlock`.\n"
    "\n"
    "## Outputs\n"
    "\n"
    "`outputs` names files by globs. They are read when the last process of the job is gone, and "
    "come back "
    "in the\n"
    "result's `outputs` as `{\"text\"}` or `{\"b64\"}` with `bytes` and `executable`. Links, "
    "pipes, devices "
    "and what does\n"
    "not fit into `limits.outputs_kb` are in `outputs_refused`, with the reason. Comparing names "
    "with "
    "globs is bounded, too, by\n"
    "some tenths of a second and by `limits.cpu_ms`: the last one refused then says that there is "
    "more "
    "work than that, and\n"
    "where it ended.\n"
    "\n"
    "## Defaults\n"
    "\n"
    "`zygo batch --defaults FILE` takes one object of the same schema that lies under every job. "
    "Objects\n"
    "(`limits`, `policy`, `determinism`, `env`, `files`) are merged by key; everything else is "
    "replaced.\n";

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
