#pragma once
// What clients are told of sessions, as answers and as JSON. Pure.

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/job/result.h"
#include "service/admission/dispatcher.h"
#include "service/http/request.h"
#include "service/sessions/selection.h"
#include "service/sessions/session_book.h"

namespace service {

// 404, or 410 where there was one.
Response missing_response(std::string_view kind, const SessionBook::Missing& missing);
Response gone_response(const std::string& why);
// Why a session has no first node, by how its first step ended.
struct NoBeginning {
  int status;
  std::string code, why;
  unsigned retry_after = 0;  // seconds; 0: a retry is of no use
};
NoBeginning why_no_beginning(const Finished& finished);
Response no_beginning(const Finished& finished);
// 507: the log of the tenant's sessions has no room for one more step.
Response log_is_full();
// Of a step that is not on the disk.
Response unwritten_response(const sys::Result<bool>& made);

// The result of a step, as an object that begins with these fields: `node` is where the session is
// now, `replayed` the steps that were run again to have its parent, if any. Empty ids are null.
std::string step_result(const std::string& node, const std::string& parent, size_t replayed,
                        std::string_view result);

// In a sentence.
void rename_node(const std::string& state, const std::string& node, std::string& sentence);
// Has a result name `node` where the engine names `state`. Null: they are the same.
std::function<void(runtime::JobResult&)> renaming(const std::string& node,
                                                  const std::string& state);

// A step that was tried, in its place. Without `scored` it has no field for a score.
struct ScoredLine {
  bool scored = false;
  std::string why_not = {};  // of a step that ended well and has no score
};
std::string tried_result(const Tried& tried, const std::string& parent, const ScoredLine& line,
                         std::string_view result);
std::string summary_of(const Selection& selection, bool scored);

std::string log_json(const std::string& session, const std::vector<const SessionStep*>& path);
std::string tree_json(const Session& session);
std::string list_json(const SessionBook::Listing& listing);

}  // namespace service
