// The answer region, decoded. It was written by the program's side: nothing here trusts a length,
// and what does not fit is kGarbled, which the judge counts as no word at all.

#include <cstring>

#include "runtime/values/utf8.h"
#include "runtime/values/value.h"
#include "runtime/values/value_walk.h"

namespace runtime {

using shim::Tag;

namespace {

constexpr size_t kMaxTypeName = 256;
constexpr size_t kMaxText = size_t{64} << 10;
constexpr size_t kMaxReason = size_t{4} << 10;

// Reads the flat lists of an answer. Strings may hold what Python calls surrogates, so they are not
// checked but repaired.
class Fields {
 public:
  explicit Fields(std::string_view payload) : rest_(payload) {}

  bool list(uint32_t count) { return tag(Tag::kList) && u32() == count; }

  std::string_view text() {
    if (!tag(Tag::kStr)) return {};
    return take(u32());
  }

  int64_t integer() {
    if (!rest_.empty() && rest_.front() == static_cast<char>(Tag::kSmall)) return small();
    if (!tag(Tag::kInt)) return 0;
    int64_t value = 0;
    const std::string_view bytes = take(sizeof value);
    if (good_) std::memcpy(&value, bytes.data(), sizeof value);
    return value;
  }

  uint8_t small() {
    if (!tag(Tag::kSmall)) return 0;
    const std::string_view byte = take(1);
    return good_ ? static_cast<uint8_t>(byte.front()) : uint8_t{0};
  }

  bool complete() const { return good_ && rest_.empty(); }

 private:
  std::string_view take(size_t size) {
    if (size > rest_.size()) good_ = false;
    if (!good_) return {};
    const std::string_view taken = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return taken;
  }
  bool tag(Tag expected) {
    const std::string_view byte = take(1);
    good_ = good_ && byte.front() == static_cast<char>(expected);
    return good_;
  }
  uint32_t u32() {
    uint32_t value = 0;
    const std::string_view bytes = take(sizeof value);
    if (good_) std::memcpy(&value, bytes.data(), sizeof value);
    return value;
  }

  std::string_view rest_;
  bool good_ = true;
};

// The start of `text`, repaired and bounded. The first cut keeps a huge text from being copied; the
// second is needed because a repair can lengthen it threefold.
std::string head_of(std::string_view text, size_t limit) {
  return std::string(utf8_head(repaired_utf8(utf8_head(text, limit)), limit));
}

// The end of `text`: of a traceback, the frames nearest to the cause.
std::string tail_of(std::string_view text, size_t limit) {
  return std::string(utf8_tail(repaired_utf8(utf8_tail(text, limit)), limit));
}

bool decode_exception(std::string_view payload, Testimony& said) {
  Fields fields(payload);
  if (!fields.list(5)) return false;
  Exception exception;
  exception.type = head_of(fields.text(), kMaxTypeName);
  exception.message = head_of(fields.text(), kMaxText);
  exception.traceback = tail_of(fields.text(), kMaxText);
  const int64_t line = fields.integer();
  exception.line = line >= 0 ? line : -1;
  const uint8_t flags = fields.small();
  if (!fields.complete()) return false;
  said.exception = std::move(exception);
  said.memory_error_by_interpreter = flags & shim::kMemoryErrorByInterpreter;
  said.no_space_by_interpreter = flags & shim::kNoSpaceByInterpreter;
  said.no_thread_by_interpreter = flags & shim::kNoThreadByInterpreter;
  said.could_not_start = flags & shim::kCouldNotStart;
  return true;
}

bool decode_invalid(std::string_view payload, Testimony& said) {
  Fields fields(payload);
  if (!fields.list(2)) return false;
  std::string reason = head_of(fields.text(), kMaxReason);
  std::string path = head_of(fields.text(), kMaxReason);
  if (!fields.complete()) return false;
  said.invalid_reason = std::move(reason);
  said.invalid_path = std::move(path);
  return true;
}

// The list of results; a scalar would make `value` something a caller does not expect.
bool decode_value(std::string_view payload, Testimony& said) {
  if (payload.empty() || payload.front() != static_cast<char>(Tag::kList)) return false;
  if (!check(payload)) return false;
  said.value = payload;
  return true;
}

// Fills `said` and returns its kind.
Testimony::Kind decode(shim::AnswerKind kind, std::string_view payload, Testimony& said) {
  using Kind = Testimony::Kind;
  const bool call = said.call_mode;
  switch (kind) {
    case shim::AnswerKind::kNothing:
      return Kind::kNothing;
    case shim::AnswerKind::kFinished:
      return !call && payload.empty() ? Kind::kFinished : Kind::kGarbled;
    case shim::AnswerKind::kExited:
      return call && payload.empty() ? Kind::kExited : Kind::kGarbled;
    case shim::AnswerKind::kValue:
      return call && decode_value(payload, said) ? Kind::kValue : Kind::kGarbled;
    case shim::AnswerKind::kInvalid:
      return call && decode_invalid(payload, said) ? Kind::kInvalid : Kind::kGarbled;
    case shim::AnswerKind::kException:
      return decode_exception(payload, said) ? Kind::kException : Kind::kGarbled;
  }
  return Kind::kGarbled;
}

}  // namespace

Testimony decode_answer(shim::AnswerKind kind, std::string_view payload, bool call_mode) {
  Testimony said;
  said.call_mode = call_mode;
  said.kind = decode(kind, payload, said);
  return said;
}

Testimony decode_answer_of_step(shim::AnswerKind kind, std::string_view payload) {
  if (kind != shim::AnswerKind::kValue) return decode_answer(kind, payload, false);
  Testimony said;
  said.kind = Testimony::Kind::kGarbled;
  std::vector<ValueNode> nodes;
  const bool is_list = !payload.empty() && payload.front() == static_cast<char>(Tag::kList);
  if (!is_list || walk_value(payload, &nodes)) return said;
  ValueCursor at{payload, &nodes};
  if (at.count() != 2) return said;
  at.enter();
  const std::string_view value = at.item();
  at.skip();
  const bool has_display = at.tag() == Tag::kDict;
  if (!has_display && at.tag() != Tag::kNone) return said;
  said.kind = Testimony::Kind::kValue;
  said.value = value;
  if (has_display) said.display = at.item();
  return said;
}

}  // namespace runtime
