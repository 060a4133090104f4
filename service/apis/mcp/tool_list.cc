// What tools/list answers.

#include "service/apis/mcp/tool_calls.h"

namespace service::mcp {

namespace {

// The result of one program, as structured content.
constexpr const char* kResult = R"({
  "type": "object",
  "properties": {
    "label": {"type": "string", "description": "OK, the class of an uncaught exception, TimeoutException, MemoryLimitExceeded, UnsafeCode, ...; NotRun"},
    "stdout": {"type": "string"},
    "stderr": {"type": "string"},
    "value": {"type": ["string", "null"], "description": "repr() of the last expression; null where there is none"},
    "error": {"type": ["object", "null"], "properties": {
      "type": {"type": "string"}, "message": {"type": "string"}, "traceback": {"type": "string"}}},
    "left_out": {"type": "integer", "description": "bytes of stdout, stderr and value that did not fit"},
    "why": {"type": "string", "description": "more about the label, such as which limit was met"},
    "why_not_kept": {"type": "string"},
    "kept": {"type": "boolean", "description": "whether the session has moved on to the state that the program left"},
    "step": {"type": "integer", "description": "steps that the session's state is made of"}
  },
  "required": ["label", "stdout", "stderr", "value", "error", "left_out"]
})";

constexpr const char* kTimeout =
    R"({"type": "integer", "minimum": 1, "maximum": 3600000, "description": "limit of wall and CPU time, in milliseconds; otherwise as the server says"})";

Json timeout() { return Json::parse(kTimeout); }
Json text(const char* description) { return {{"type", "string"}, {"description", description}}; }

Json object_of(Json properties, Json required) {
  return {{"type", "object"},
          {"properties", std::move(properties)},
          {"required", std::move(required)},
          {"additionalProperties", false}};
}

struct Tool {
  const char* name;
  const char* title;
  const char* description;
  Json input, output;
  bool reads_only = false;
  bool destroys = false;  // something that cannot be had again
  bool is_repeatable = false;
};

Json described(const Tool& tool, bool has_structure) {
  Json listed = {{"name", tool.name},
                 {"description", tool.description},
                 {"inputSchema", tool.input},
                 {"annotations",
                  {{"title", tool.title},
                   {"readOnlyHint", tool.reads_only},
                   {"destructiveHint", tool.destroys},
                   {"idempotentHint", tool.is_repeatable},
                   {"openWorldHint", false}}}};
  if (!has_structure) return listed;
  listed["title"] = tool.title;
  listed["outputSchema"] = tool.output;
  return listed;
}

Tool run_python() {
  return {
      .name = "run_python",
      .title = "Run Python",
      .description =
          "Run Python in a sandbox that keeps its variables and files from one call to the next. "
          "Returns what the code prints and the value of its last expression; an image as image. "
          "A call that meets a limit (TimeoutException, MemoryLimitExceeded) or does what is "
          "forbidden (UnsafeCode) leaves the state as it was before. There is no network and no "
          "pip install.",
      .input = object_of({{"code", text("the program")}, {"timeout_ms", timeout()}}, {"code"}),
      .output = Json::parse(kResult)};
}

Tool try_many() {
  const Json codes = {{"type", "array"},
                      {"items", {{"type", "string"}}},
                      {"minItems", 1},
                      {"maxItems", TryMany::kMost},
                      {"description", "programs, each run in a branch of its own"}};
  const Json keep = {{"type", "integer"},
                     {"minimum", 0},
                     {"description",
                      "index of the program from whose state the session goes on; otherwise the "
                      "state does not change"}};
  Json tried = Json::parse(kResult);
  tried["properties"].erase("kept");
  tried["properties"].erase("step");
  tried["properties"]["index"] = {{"type", "integer"}};
  Json output = {{"type", "object"},
                 {"properties",
                  {{"results", {{"type", "array"}, {"items", std::move(tried)}}},
                   {"kept", {{"type", {"integer", "null"}}}},
                   {"step", {{"type", "integer"}}}}},
                 {"required", {"results", "kept", "step"}}};
  return {
      .name = "try_many",
      .title = "Try many programs",
      .description =
          "Run up to 64 Python programs side by side, each from the present state of the session "
          "and unseen by the others. The state stays as it is, unless keep names the program to "
          "go on from. For comparing candidates: fixes, queries, parameters.",
      .input = object_of({{"codes", codes}, {"keep", keep}, {"timeout_ms", timeout()}}, {"codes"}),
      .output = std::move(output)};
}

Tool undo() {
  const Json steps = {
      {"type", "integer"}, {"minimum", 1}, {"description", "steps to go back; otherwise one"}};
  return {
      .name = "undo",
      .title = "Undo",
      .description =
          "Take the session back to the state before its last calls of run_python, write_file or "
          "try_many with keep: variables and files.",
      .input = object_of({{"steps", steps}}, Json::array()),
      .output = {{"type", "object"},
                 {"properties",
                  {{"undone", {{"type", "integer"}}}, {"step", {{"type", "integer"}}}}},
                 {"required", {"undone", "step"}}},
      .destroys = true};
}

Tool read_file() {
  const Json offset = {{"type", "integer"}, {"minimum", 0}, {"description", "first byte"}};
  const Json length = {{"type", "integer"},
                       {"minimum", 1},
                       {"maximum", ReadFile::kMost},
                       {"description", "bytes at most; otherwise 65536"}};
  return {.name = "read_file",
          .title = "Read a file",
          .description =
              "Read a file of the session: text as text, a PNG or JPEG as image, other bytes as "
              "base64. The state does not change.",
          .input = object_of({{"path", text("relative to the working directory, or absolute")},
                              {"offset", offset},
                              {"length", length}},
                             {"path"}),
          .output = {{"type", "object"},
                     {"properties",
                      {{"path", {{"type", "string"}}},
                       {"size", {{"type", "integer"}, {"description", "of the whole file"}}},
                       {"offset", {{"type", "integer"}}},
                       {"text", {{"type", "string"}}},
                       {"base64", {{"type", "string"}}},
                       {"left_out", {{"type", "integer"}, {"description", "bytes behind these"}}}}},
                     {"required", {"path", "size", "offset", "left_out"}}},
          .reads_only = true,
          .is_repeatable = true};
}

Tool write_file() {
  return {.name = "write_file",
          .title = "Write a file",
          .description =
              "Write a file into the session's working directory, where run_python finds it. One "
              "that is there is replaced; undo brings it back.",
          .input = object_of({{"path", text("relative to the working directory")},
                              {"text", text("the content, or")},
                              {"base64", text("the same as base64")}},
                             {"path"}),
          .output = {{"type", "object"},
                     {"properties",
                      {{"path", {{"type", "string"}}},
                       {"size", {{"type", "integer"}}},
                       {"step", {{"type", "integer"}}}}},
                     {"required", {"path", "size", "step"}}},
          .is_repeatable = true};
}

Tool run_program() {
  Json output = Json::parse(kResult);
  output["properties"].erase("kept");
  output["properties"].erase("step");
  return {
      .name = "run_program",
      .title = "Run a program",
      .description =
          "Compile and run one program of another language in a fresh sandbox; nothing of it "
          "stays, and it does not see the session's files. Languages, as far as they are "
          "installed: bash, c, cpp, go, java, javascript, lua, perl, php, python, r, ruby, rust.",
      .input = object_of({{"language", text("its name in lower case, as above")},
                          {"source", text("the program")},
                          {"stdin", text("its standard input")},
                          {"timeout_ms", timeout()}},
                         {"language", "source"}),
      .output = std::move(output),
      .is_repeatable = true};
}

}  // namespace

Json tool_list(bool has_structure) {
  Json tools = Json::array();
  for (const Tool& tool :
       {run_python(), try_many(), undo(), read_file(), write_file(), run_program()})
    tools.push_back(described(tool, has_structure));
  return {{"tools", std::move(tools)}};
}

}  // namespace service::mcp
