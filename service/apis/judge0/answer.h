#pragma once
// The answers to Judge0's clients: the fields of submissions that they ask for, and facts about
// the service. Pure.

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "service/apis/judge0/languages.h"
#include "service/apis/judge0/request.h"
#include "service/apis/judge0/submission.h"
#include "service/http/request.h"

namespace service::judge0 {

struct Field;

// What the target of a request says about the answer.
struct Query {
  Encoding encoding = Encoding::kPlain;
  std::vector<const Field*> fields;
  bool wait = false;
};
// A response: there is no such field.
std::variant<Query, Response> read_query(const Request& request);
Encoding encoding_in(const Request& request);
// The tokens of a batch, as written.
std::vector<std::string> tokens_in(const Request& request);

// Long for long outputs. A text that cannot be told without base64 is an error, as in the original.
Response submission_response(int status, const Submission& submission, const Query& query);
// None: null.
Response batch_response(const std::vector<std::optional<Submission>>& batch, const Query& query);
// The body of a callback for a submission that has ended.
std::string callback_body(const Submission& submission);
// About so many bytes such a one has.
size_t bytes_told(const Submission& submission);

Response no_submission();  // 404
Response statuses_response();
Response about_response(Edition edition, std::string_view zygo_version);
Response config_response(size_t most_queued, bool has_callbacks);

}  // namespace service::judge0
