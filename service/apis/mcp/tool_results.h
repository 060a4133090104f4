#pragma once
// What tools/call answers. Pure.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "service/apis/mcp/json_rpc.h"
#include "service/apis/mcp/outcome.h"
#include "service/apis/mcp/tool_calls.h"

namespace service::mcp {

// Where a session is after a call.
struct Standing {
  bool kept = false;         // it has moved on
  std::string why_not = {};  // in words
  size_t step = 0;           // steps that its state is made of
};

// The call could not be done, for a reason that is no program's.
Json refused_result(std::string_view sentence);

Json step_result(const Outcome& outcome, const Standing& after);
Json program_result(const Outcome& outcome);

// A program that was tried: none where it was refused.
struct TriedOne {
  std::optional<Outcome> outcome;
  std::string refusal;
};
Json tried_result(const std::vector<TriedOne>& tried, std::optional<size_t> kept,
                  const Standing& after, bool wanted_one);

Json undo_result(size_t undone, size_t step);

// `content` is the part that was read, at call.offset, of a file of this size.
Json file_result(const ReadFile& call, uint64_t size, std::string_view content);
Json written_result(const WriteFile& call, size_t size, const Outcome& outcome,
                    const Standing& after);

}  // namespace service::mcp
