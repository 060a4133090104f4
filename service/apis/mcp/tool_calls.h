#pragma once
// The tools of the server: how they are listed, and what a call of one asks for. Pure; arguments
// are untrusted.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "sandbox/sys/result.h"
#include "service/apis/mcp/json_rpc.h"

namespace service::mcp {

struct RunPython {
  std::string code;
  std::optional<int64_t> timeout_ms;
};

struct TryMany {
  static constexpr size_t kMost = 64;
  std::vector<std::string> codes;
  std::optional<size_t> keep;  // index of the one that the session goes on from
  std::optional<int64_t> timeout_ms;
};

struct Undo {
  int64_t steps = 1;
};

struct ReadFile {
  static constexpr int64_t kUsual = 64 << 10, kMost = 512 << 10;  // bytes; images always kMost
  std::string path;
  int64_t offset = 0, length = 0;  // 0: not said
};

struct WriteFile {
  std::string path, content;
  bool is_base64 = false;
};

struct RunProgram {
  std::string language, source, standard_in;
  std::optional<int64_t> timeout_ms;
};

using ToolCall = std::variant<RunPython, TryMany, Undo, ReadFile, WriteFile, RunProgram>;

// Of the `params` of tools/call. An error names the argument.
sys::Result<ToolCall> read_call(const Json& params);

// The template of a language under the names that people give it.
std::string template_of(std::string_view language);

// What tools/list answers. Titles, structured content and its schemas came with `has_structure`.
Json tool_list(bool has_structure);

}  // namespace service::mcp
