#pragma once
// The common parts of SandboxFusion's requests and answers: its languages, its fields and
// pydantic's messages about wrong ones, and the account of one run. Pure; the bytes are
// untrusted.

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/json/job/job_builder.h"
#include "service/http/request.h"

namespace service::sandbox_fusion {

using nlohmann::json;
using nlohmann::ordered_json;

struct Language {
  std::string_view name;
  std::string_view runtime;  // ours; empty: none of them
};

// All errors of a request, in the words of pydantic.
class Complaints {
 public:
  using Where = std::vector<std::string>;
  // `where`: below the body.
  void add(std::string_view type, const Where& where, std::string_view message);
  bool empty() const { return list_.empty(); }
  Response response() const;  // 422

 private:
  ordered_json list_ = ordered_json::array();
};

// A request as an object; nothing, and a complaint, if it is none.
std::optional<json> read_object(std::string_view body, Complaints& complaints, int deepest);

// The fields of one object; each reader complains and goes on.
class Fields {
 public:
  // `object` is borrowed. `where`: the path of the object in the body.
  Fields(const json& object, Complaints& complaints, Complaints::Where where = {})
      : object_(object), complaints_(complaints), where_(std::move(where)) {}

  std::string text(const char* name, bool required);
  // Above 0; none: the field is not there.
  std::optional<double> seconds(const char* name);
  // The same, but null and 0 mean that there is none.
  std::optional<double> seconds_or_none(const char* name);
  int64_t whole(const char* name);  // negative: no limit is asked for
  // Null: it is not one of theirs. `otherwise`: of those that leave it out.
  const Language* language(const char* name, const Language* otherwise);
  std::vector<std::string> texts(const char* name, bool required);
  void place_files(runtime::JobBuilder& job);
  // Into the job's outputs. Those that are named by a full path are the job's tag, by which
  // files_of() gives them that name.
  void fetch_files(runtime::JobBuilder& job);
  static void limit_time(runtime::JobBuilder& job, double seconds);
  void limit_memory(runtime::JobBuilder& job);
  void complain(std::string_view type, const char* name, std::string_view message);
  // Null: it is not there, or null.
  const json* find(const char* name) const;
  bool has(const char* name) const { return object_.contains(name); }

 private:
  const json& object_;
  Complaints& complaints_;
  const Complaints::Where where_;
};

const Language& python();
// The template of ours. Not of a language that is none of ours.
std::string template_of(const Language& language, const runtime::JobDefaults& defaults);
// The source that is run: as in the original, PHP without a tag becomes a program.
std::string source_of(const Language& language, const std::string& code);
Response not_offered(const Language& language);

// {"detail": ..}
Response detail_response(int status, std::string_view detail);
// 504 where zygo has failed, or ends: the one status that clients try again. The body is what it
// would be with 200.
int http_status_of(const runtime::Verdict& verdict);

// The most and the usual of all their limits.
inline constexpr double kUsualSeconds = 10;

// One run: of a job, or of one of its tests. Borrowed.
struct Ran {
  const runtime::Verdict& verdict;
  const std::optional<runtime::ExitStatus>& exit;
  const runtime::Output &out, &err;
  const runtime::Usage& usage;
  const std::optional<runtime::CompileReport>& compile;
};
Ran ran_of(const runtime::JobResult& result);
Ran ran_of(const runtime::TestResult& test, const std::optional<runtime::CompileReport>& compile);

// How one run ended.
struct Account {
  std::string_view status = "Success";
  std::string message;
  ordered_json compile, run;  // null: there was none
};
Account account_of(const Ran& ran);
// As base64, by their names; those that the client named by a full path, by that, too.
ordered_json files_of(const runtime::JobResult& result);
// zygo's own part of an answer.
ordered_json our_facts(const runtime::JobResult& result);
ordered_json run_code_answer(const runtime::JobResult& result);
ordered_json run_code_answer(const runtime::TestResult& test,
                             const std::optional<runtime::CompileReport>& compile);

}  // namespace service::sandbox_fusion
