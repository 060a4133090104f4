#include "runtime/json/job/job_value.h"

#include <utility>

#include "runtime/json/converter.h"
#include "runtime/values/value_walk.h"

namespace runtime {

using shim::Tag;
using Type = JsonReader::Type;

namespace {

// Names of arguments are strings; {"$type": "dict"} could say otherwise.
bool is_plain_dict(std::string_view value) {
  std::vector<ValueNode> nodes;
  return walk_value(value, &nodes) == nullptr && value.front() == static_cast<char>(Tag::kDict) &&
         nodes.front().plain_keys;
}

void put_call(Writer& out, const std::string& args, const std::string& kwargs) {
  out.container(Tag::kList, 2);
  args.empty() ? out.container(Tag::kList, 0) : out.raw(args);
  kwargs.empty() ? out.container(Tag::kDict, 0) : out.raw(kwargs);
}

bool read_args(JsonReader& in, Writer& out) {
  if (in.peek() != Type::kArray) return in.expected("a list");
  Converter(in, out).value(0);
  return in.ok();
}

bool read_part(JsonReader& in, bool is_args, std::string& part) {
  if (!part.empty()) return in.fail("given twice");
  if (!is_args && in.peek() != Type::kObject) return in.expected("an object");
  Writer writer;
  is_args ? void(read_args(in, writer)) : void(Converter(in, writer).value(0));
  if (!in.ok()) return false;
  part = writer.take();
  return is_args || is_plain_dict(part) || in.fail("expected names of arguments and their values");
}

// {"args": [..], "kwargs": {..}}, both optional, in any order. The arguments, which may be long, go
// where they belong at once.
bool read_call(JsonReader& in, Writer& out) {
  if (in.peek() != Type::kObject) return in.expected(R"({"args": [..], "kwargs": {..}})");
  std::string key, kwargs;
  bool has_args = false;
  out.container(Tag::kList, 2);
  in.open_object();
  for (bool first = true; in.next_key(first, key); first = false) {
    const bool is_args = key == "args";
    if (!is_args && key != "kwargs")
      return in.fail("unknown field " + key + "; expected args and kwargs");
    const bool fine = !is_args                        ? read_part(in, false, kwargs)
                      : std::exchange(has_args, true) ? in.fail("given twice")
                                                      : read_args(in, out);
    if (!fine) return in.at_field('.' + key);
  }
  if (!has_args) out.container(Tag::kList, 0);
  kwargs.empty() ? out.container(Tag::kDict, 0) : out.raw(kwargs);
  return in.ok();
}

// One call per element of a list.
template <typename ReadOne>
bool read_each(JsonReader& in, std::string& calls, ReadOne read_one) {
  if (in.peek() != Type::kArray) return in.expected("a list");
  Writer out;
  const size_t mark = out.open(Tag::kList);
  uint32_t count = 0;
  in.open_array();
  for (; in.next_item(count == 0); ++count) {
    read_one(out);
    if (!in.ok()) return in.at_index(count);
  }
  if (!in.ok()) return false;
  out.close(mark, count);
  calls = out.take();
  return true;
}

}  // namespace

bool read_call_part(JsonReader& in, bool is_args, std::string& part) {
  return read_part(in, is_args, part);
}

std::string one_call(const std::string& args, const std::string& kwargs) {
  Writer out;
  out.container(Tag::kList, 1);
  put_call(out, args, kwargs);
  return out.take();
}

bool read_inputs(JsonReader& in, std::string& calls) {
  return read_each(in, calls, [&in](Writer& out) {
    out.container(Tag::kList, 2);
    out.container(Tag::kList, 1);
    Converter(in, out).value(0);
    out.container(Tag::kDict, 0);
  });
}

bool read_calls(JsonReader& in, std::string& calls) {
  return read_each(in, calls, [&in](Writer& out) { return read_call(in, out); });
}

}  // namespace runtime
