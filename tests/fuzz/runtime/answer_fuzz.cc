// The answer region of a hostile program, all the way to the result: the first two bytes choose
// kind and mode, the rest is the payload, and also what it printed.

#include <nlohmann/json.hpp>

#include "runtime/json/result/result_json.h"
#include "runtime/judging/judge.h"
#include "runtime/values/utf8.h"
#include "runtime/values/value.h"
#include "sandbox/sys/result.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 2) return 0;
  const std::string_view payload(reinterpret_cast<const char*>(data) + 2, size - 2);
  const auto kind = static_cast<shim::AnswerKind>(data[0]);
  const bool call_mode = (data[1] & 1) != 0;
  runtime::Evidence seen;
  seen.exit = {.signalled = (data[1] & 2) != 0, .code = data[1] >> 3};

  const bool is_step = !call_mode && (data[1] & 4) != 0;
  const runtime::Testimony said = is_step ? runtime::decode_answer_of_step(kind, payload)
                                          : runtime::decode_answer(kind, payload, call_mode);
  const runtime::Verdict verdict = judge(seen, said);

  const bool clean = !seen.exit.signalled && seen.exit.code == 0;
  VERIFY(!verdict.ok() || clean);
  VERIFY(verdict.by == runtime::By::kProgram || verdict.by == runtime::By::kLimit);
  VERIFY(verdict.ok() || verdict.label() != "OK");
  VERIFY(said.value.empty() || runtime::check(said.value));
  VERIFY(said.display.empty() || (is_step && runtime::check(said.display)));
  if (said.exception) {
    VERIFY(said.exception->type.size() <= 256);
    VERIFY(said.exception->message.size() <= 65536 && runtime::is_utf8(said.exception->message));
    VERIFY(said.exception->traceback.size() <= 65536 &&
           runtime::is_utf8(said.exception->traceback));
  }

  runtime::JobResult result;
  result.verdict = verdict;
  result.exit = seen.exit;
  result.value = said.value;
  result.display = said.display;
  result.exception = said.exception;
  result.out.bytes = payload;
  std::string line;
  append_result(result, line);
  VERIFY(nlohmann::json::accept(line));
  VERIFY(line.find('\n') == std::string::npos);
  return 0;
}
