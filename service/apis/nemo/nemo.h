#pragma once
// The POST /execute of NeMo-Skills' local sandbox in terms of ours: its request becomes a job, and
// our result its answer. Its client reads the body whatever the status is, and takes 502 alone for
// trouble of the sandbox. Pure; the bytes are untrusted.

#include <string>
#include <string_view>
#include <variant>

#include "runtime/json/job/job_json.h"
#include "service/apis/nemo/tracebacks.h"
#include "service/http/request.h"

namespace service::nemo {

inline constexpr std::string_view kApiName = "nemo";

struct Execution {
  std::string shell;  // empty: a program of its own; else a cell in the shell of this name
  runtime::Job job;
  // What the answer needs of the request.
  struct Wish {
    std::string seconds;                       // as it was written
    size_t characters = 0;                     // of each stream that are told
    bool is_by_code = false;                   // the exit code decides whether it is an error
    bool is_quiet = false;                     // the value of a cell is not told
    Verbosity tracebacks = Verbosity::kPlain;  // of a cell
    bool facts = false;                        // zygo's own are told, too
  } wish;
};

std::variant<Execution, Response> read_execute(const Request& request,
                                               const runtime::JobDefaults& defaults);

Response execute_response(const runtime::JobResult& result, const Execution::Wish& wish);

// A cell's, but for what its shell knows.
struct CellAnswer {
  int status = 200;
  std::string_view how;  // of static life
  std::string out, err;
};
CellAnswer answer_of_cell(const runtime::JobResult& result, const Execution::Wish& wish);
// `is_new`: the shell has begun with it, and has nothing of what was run there before. `why_not`:
// the shell is as it was before the cell, for this reason; empty: it is as the cell left it.
Response response_of_cell(CellAnswer answer, bool is_new, const std::string& why_not);

// In the form of an answer.
Response refusal(int status, std::string_view why);
// Nothing is known of the program.
Response trouble(std::string_view why);

}  // namespace service::nemo
