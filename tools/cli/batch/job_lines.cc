#include "tools/cli/batch/job_lines.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "tools/cli/text.h"

namespace cli {
namespace {

// The text of such a line begins with the word, so that jobs are not parsed twice. Nothing: it is a
// job, or none of both.
std::optional<Withdrawal> withdrawal_in(std::string_view text) {
  constexpr size_t kLongest = 8192, kHead = 16;
  if (text.size() > kLongest || text.substr(0, kHead).find("\"cancel\"") == text.npos) return {};
  const auto object = nlohmann::json::parse(text, nullptr, false);
  if (!object.is_object() || object.size() != 1 || !object.contains("cancel")) return {};
  const auto& id = object.at("cancel");
  return id.is_string() ? std::optional(Withdrawal{id.get<std::string>()}) : std::nullopt;
}

}  // namespace

JobLines::Read JobLines::read(Line line) {
  if (line.too_long) {
    return refused(line, fmt::format("longer than {} MiB", runtime::kMaxJobBytes >> 20), {});
  }
  if (auto withdrawal = withdrawal_in(line.text)) return *std::move(withdrawal);
  if (!line.objection.empty()) {
    return refused(line, line.objection, runtime::identity_of(line.text));
  }
  sys::Result<runtime::Job> job =
      runtime::parse_job(line.text, defaults_, std::exchange(line.parts, {}));
  if (!job) return refused(line, job.error().text(), runtime::identity_of(line.text));
  if (job->id.empty()) {
    job->id = generated_id(line);
  } else if (!is_new(job->id)) {
    std::string reason = fmt::format("id: \"{}\" is there twice", clip(job->id, 100));
    return refused(line, reason, {.id = "", .tag = std::move(job->tag)});
  }
  if (const EarlierResult* earlier = earlier_result(job->id)) return *earlier;
  return std::move(job).value();
}

bool JobLines::is_new(const std::string& id) {
  return ids_ == Ids::kAny || seen_.insert(id).second;
}

// Made from the line's number, so that --resume makes the same one again.
std::string JobLines::generated_id(const Line& line) {
  std::string id = fmt::format("job-{}", line.number);
  while (!is_new(id)) id += "-generated";
  return id;
}

const EarlierResult* JobLines::earlier_result(const std::string& id) const {
  auto found = earlier_.by_id.find(id);
  return found == earlier_.by_id.end() ? nullptr : &found->second;
}

// Under its own id if that can be read and is nobody else's.
JobLines::Read JobLines::refused(const Line& line, std::string reason,
                                 runtime::JobIdentity identity) {
  bool own = !identity.id.empty() && is_new(identity.id);
  std::string id = own ? std::move(identity.id) : generated_id(line);
  if (const EarlierResult* earlier = earlier_result(id)) return *earlier;
  return runtime::bad_job(line.number, std::move(id), std::move(identity.tag), std::move(reason));
}

}  // namespace cli
