#pragma once
// The bodies that Judge0's clients send, in terms of ours: a submission becomes a job, under the
// rules of our schema, or gets the original's objections, a list for each field. Pure; the bytes
// are untrusted.

#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "runtime/json/job/job_json.h"
#include "service/apis/judge0/languages.h"
#include "service/apis/judge0/submission.h"
#include "service/callbacks.h"
#include "service/http/request.h"

namespace service::judge0 {

inline constexpr size_t kMostInBatch = 20;  // as in the original

// The bounds of additional files when they are extracted. The size is as in the original.
inline constexpr sys::Bytes kMostExtracted = sys::kibibytes(10'240);
inline constexpr size_t kMostFiles = 1000;

// How texts that may be no UTF-8 travel.
enum class Encoding : uint8_t { kPlain, kBase64 };

struct NewSubmission {
  runtime::Job job;
  Asked asked;
};
// {"language_id": ["can't be blank"]}
using Objections = nlohmann::ordered_json;
using ReadSubmission = std::variant<NewSubmission, Objections>;

// The service offers this to submissions.
struct Offered {
  Callbacks::Check callbacks = {};  // empty: there are none
  // Asked before so many bytes more are held; false: there is no room. Empty: there always is.
  std::function<bool(size_t bytes)> room = {};
};

// Whether a body may have files, which take time and room when they are extracted.
bool may_have_files(std::string_view body);

// A response: the body is no submission at all.
std::variant<ReadSubmission, Response> read_create(std::string_view body, Encoding encoding,
                                                   const std::vector<Language>& languages,
                                                   const runtime::JobDefaults& defaults,
                                                   const Offered& offered = {});
std::variant<std::vector<ReadSubmission>, Response> read_batch(
    std::string_view body, Encoding encoding, const std::vector<Language>& languages,
    const runtime::JobDefaults& defaults, const Offered& offered = {});

// Too few or too many submissions in a batch, of its size.
std::optional<Response> objection_to_batch(size_t size);
// {"error"}
Response refusal(int status, std::string_view why);
Response objections_response(const Objections& objections);  // 422

// The words of a line as a shell reads them, which expands nothing: quotes and backslashes count,
// and what could be more than a word for a shell is left out, as by the original.
std::vector<std::string> words_in(std::string_view line);

}  // namespace service::judge0
