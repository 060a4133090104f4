#include "service/apis/mcp/tool_calls.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace service::mcp {

using sys::Error;
using sys::Result;

namespace {

constexpr int64_t kMostTime = 3'600'000;  // ms

// Also 5000.0, which JSON Schema takes for an integer.
std::optional<int64_t> whole_number(const Json& given) {
  constexpr double kExact = 9007199254740992.0;
  if (given.is_number_float()) {
    const double value = given.get<double>();
    const bool is_whole = std::abs(value) < kExact && std::trunc(value) == value;
    return is_whole ? std::optional(static_cast<int64_t>(value)) : std::nullopt;
  }
  if (!given.is_number_integer()) return std::nullopt;
  const bool is_too_large =
      given.is_number_unsigned() && given.get<uint64_t>() > static_cast<uint64_t>(INT64_MAX);
  return is_too_large ? std::nullopt : std::optional(given.get<int64_t>());
}

// The arguments of a call, one after the other. The first that is wrong is what is told.
class Arguments {
 public:
  explicit Arguments(const Json& arguments) : arguments_(arguments) {}

  const Json* find(const char* name) {
    known_.emplace_back(name);
    const auto found = arguments_.find(name);
    return found == arguments_.end() || found->is_null() ? nullptr : &*found;
  }
  void text(const char* name, std::string& into) {
    const Json* given = find(name);
    if (!given) return refuse(name, "required");
    if (!given->is_string()) return refuse(name, "expected a string");
    into = given->get<std::string>();
  }
  void optional_text(const char* name, std::string& into) {
    const Json* given = find(name);
    if (!given) return;
    if (!given->is_string()) return refuse(name, "expected a string");
    into = given->get<std::string>();
  }
  void optional_integer(const char* name, int64_t least, int64_t most, int64_t& into) {
    const Json* given = find(name);
    if (!given) return;
    const std::optional<int64_t> value = whole_number(*given);
    if (!value || *value < least || *value > most)
      return refuse(name, fmt::format("expected a whole number, {} to {}", least, most));
    into = *value;
  }
  void timeout(std::optional<int64_t>& into) {
    int64_t given = 0;
    optional_integer("timeout_ms", 1, kMostTime, given);
    if (given > 0) into = given;
  }
  void codes(std::vector<std::string>& into) {
    const Json* given = find("codes");
    if (!given) return refuse("codes", "required");
    if (!given->is_array() || given->empty() || given->size() > TryMany::kMost)
      return refuse("codes", fmt::format("expected a list of 1 to {} programs", TryMany::kMost));
    for (const Json& code : *given) {
      if (!code.is_string()) return refuse("codes", "expected strings");
      into.push_back(code.get<std::string>());
    }
  }
  void refuse(std::string_view name, std::string_view why) {
    if (why_.empty()) why_ = fmt::format("{}: {}", name, why);
  }
  // Why they are no arguments of this tool; empty: they are.
  std::string trouble() {
    for (const auto& [name, value] : arguments_.items()) {
      if (std::ranges::find(known_, name) == known_.end())
        refuse(name, "this tool has no such argument");
    }
    return why_;
  }

 private:
  const Json& arguments_;
  std::vector<std::string> known_;
  std::string why_;
};

ToolCall read(Arguments& from, RunPython call) {
  from.text("code", call.code);
  from.timeout(call.timeout_ms);
  return call;
}

ToolCall read(Arguments& from, TryMany call) {
  from.codes(call.codes);
  from.timeout(call.timeout_ms);
  int64_t keep = -1;
  from.optional_integer("keep", 0, std::max<int64_t>(0, std::ssize(call.codes) - 1), keep);
  if (keep >= 0) call.keep = static_cast<size_t>(keep);
  return call;
}

ToolCall read(Arguments& from, Undo call) {
  from.optional_integer("steps", 1, 1'000'000, call.steps);
  return call;
}

ToolCall read(Arguments& from, ReadFile call) {
  from.text("path", call.path);
  from.optional_integer("offset", 0, int64_t{1} << 50, call.offset);
  from.optional_integer("length", 1, ReadFile::kMost, call.length);
  return call;
}

ToolCall read(Arguments& from, WriteFile call) {
  from.text("path", call.path);
  const bool has_text = from.find("text"), has_bytes = from.find("base64");
  if (has_text == has_bytes) from.refuse("text", "expected either text or base64");
  from.optional_text("text", call.content);
  from.optional_text("base64", call.content);
  call.is_base64 = has_bytes;
  return call;
}

ToolCall read(Arguments& from, RunProgram call) {
  from.text("language", call.language);
  from.text("source", call.source);
  from.optional_text("stdin", call.standard_in);
  from.timeout(call.timeout_ms);
  return call;
}

ToolCall call_named(std::string_view name, bool& is_known) {
  is_known = true;
  if (name == "run_python") return RunPython{};
  if (name == "try_many") return TryMany{};
  if (name == "undo") return Undo{};
  if (name == "read_file") return ReadFile{};
  if (name == "write_file") return WriteFile{};
  if (name == "run_program") return RunProgram{};
  is_known = false;
  return Undo{};
}

}  // namespace

Result<ToolCall> read_call(const Json& params) {
  const auto name = params.find("name");
  if (name == params.end() || !name->is_string()) return Error::because("name: expected a string");
  bool is_known = false;
  ToolCall blank = call_named(name->get<std::string>(), is_known);
  if (!is_known)
    return Error::because(fmt::format("name: there is no tool \"{}\"", name->get<std::string>()));
  static const Json kNone = Json::object();
  const auto given = params.find("arguments");
  const bool has_some = given != params.end() && !given->is_null();
  if (has_some && !given->is_object()) return Error::because("arguments: expected an object");
  Arguments arguments(has_some ? *given : kNone);
  ToolCall call =
      std::visit([&arguments](auto& each) { return read(arguments, std::move(each)); }, blank);
  if (const std::string why = arguments.trouble(); !why.empty()) return Error::because(why);
  return call;
}

std::string template_of(std::string_view language) {
  constexpr std::pair<std::string_view, std::string_view> kOthers[] = {
      {"c++", "cpp"},    {"js", "javascript"}, {"node", "javascript"}, {"nodejs", "javascript"},
      {"golang", "go"},  {"rs", "rust"},       {"rb", "ruby"},         {"sh", "bash"},
      {"shell", "bash"}, {"py", "python"},     {"python3", "python"}};
  std::string name(language);
  for (char& c : name) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  for (const auto& [other, ours] : kOthers) {
    if (name == other) return std::string(ours);
  }
  return name;
}

}  // namespace service::mcp
