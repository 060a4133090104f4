#include "runtime/values/utf8.h"
#include "runtime/values/value_walk.h"

namespace runtime {

using shim::Tag;

namespace {

struct Open {
  uint64_t left;  // items still to come; a dict counts key and value
  uint32_t node;
  Tag tag;
};

bool is_decimal(std::string_view text) {
  if (!text.empty() && text.front() == '-') {
    text.remove_prefix(1);
    if (text == "0") return false;
  }
  if (text.empty() || text.size() > shim::kMaxIntegerDigits) return false;
  if (text.front() == '0' && text.size() > 1) return false;
  for (char c : text) {
    if (c < '0' || c > '9') return false;
  }
  return true;
}

class Walk {
 public:
  Walk(std::string_view value, std::vector<ValueNode>* nodes) : value_(value), nodes_(nodes) {}

  const char* run() {
    if (value_.size() > UINT32_MAX) return "longer than 4 GiB";
    if (const char* wrong = item()) return wrong;
    while (depth_ > 0) {
      Open& top = open_[depth_ - 1];
      if (top.left == 0) {
        close(top);
        continue;
      }
      if (top.tag == Tag::kDict && top.left % 2 == 0) note_key(top);
      --top.left;
      if (const char* wrong = item()) return wrong;
    }
    return at_ == value_.size() ? nullptr : "bytes behind the value";
  }
  size_t at() const { return at_; }

 private:
  size_t left() const { return value_.size() - at_; }

  const char* item() {
    if (left() == 0) return "ends too early";
    const Tag tag = static_cast<Tag>(value_[at_++]);
    switch (tag) {
      case Tag::kNone:
      case Tag::kTrue:
      case Tag::kFalse:
        return nullptr;
      case Tag::kSmall:
        return fixed(1);
      case Tag::kInt:
      case Tag::kFloat:
        return fixed(8);
      case Tag::kComplex:
        return fixed(16);
      case Tag::kBigInt:
      case Tag::kStr:
      case Tag::kBytes:
        return counted(tag);
      case Tag::kList:
      case Tag::kTuple:
      case Tag::kSet:
      case Tag::kFrozenSet:
      case Tag::kDict:
        return container(tag);
      case Tag::kArray:
        return array();
    }
    return "unknown tag";
  }

  const char* fixed(size_t size) {
    if (left() < size) return "ends too early";
    at_ += size;
    return nullptr;
  }

  const char* length(uint32_t& into) {
    if (left() < sizeof into) return "ends too early";
    into = load<uint32_t>(value_, at_);
    at_ += sizeof into;
    return nullptr;
  }

  const char* counted(Tag tag) {
    uint32_t size = 0;
    if (const char* wrong = length(size)) return wrong;
    if (size > left()) return "a length past the end";
    const std::string_view content = value_.substr(at_, size);
    if (tag == Tag::kStr && !is_utf8(content)) return "a string that is not UTF-8";
    if (tag == Tag::kBigInt && !is_decimal(content)) return "an integer that is not decimal";
    at_ += size;
    return nullptr;
  }

  const char* container(Tag tag) {
    uint32_t count = 0;
    if (const char* wrong = length(count)) return wrong;
    const uint64_t items = tag == Tag::kDict ? uint64_t{count} * 2 : count;
    if (items > left()) return "a count past the end";
    if (const char* wrong = push(tag, items)) return wrong;
    // Long runs of small integers are what grids are made of.
    if (tag == Tag::kList) take_small_integers(open_[depth_ - 1]);
    return nullptr;
  }

  void take_small_integers(Open& top) {
    const char small = static_cast<char>(Tag::kSmall);
    while (top.left > 0 && left() >= 2 && value_[at_] == small) {
      at_ += 2;
      --top.left;
    }
  }

  const char* array() {
    if (const char* wrong = push(Tag::kArray, 1)) return wrong;
    if (left() == 0 || value_[at_] != static_cast<char>(Tag::kStr)) return "an array without dtype";
    ++at_;
    if (const char* wrong = counted(Tag::kStr)) return wrong;
    if (left() == 0 || value_[at_] != static_cast<char>(Tag::kList))
      return "an array without shape";
    ++at_;
    return shape();
  }

  // The shape is a list of scalars; it opens no container of its own.
  const char* shape() {
    uint32_t count = 0;
    if (const char* wrong = length(count)) return wrong;
    if (count > kMaxDimensions) return "an array of too many dimensions";
    for (uint32_t i = 0; i < count; ++i) {
      if (left() == 0) return "ends too early";
      const Tag tag = static_cast<Tag>(value_[at_]);
      if (tag != Tag::kSmall && tag != Tag::kInt) return "a shape that is not of integers";
      if (const char* wrong = item()) return wrong;
      if (tag == Tag::kInt && load<int64_t>(value_, at_ - 8) < 0) return "a negative dimension";
    }
    return nullptr;
  }

  const char* push(Tag tag, uint64_t items) {
    if (depth_ == kMaxContainers) return "nested too deep";
    uint32_t node = 0;
    if (nodes_ != nullptr) {
      node = static_cast<uint32_t>(nodes_->size());
      nodes_->push_back({0, 0, true});
    }
    open_[depth_++] = {items, node, tag};
    return nullptr;
  }

  void close(const Open& top) {
    if (nodes_ != nullptr) {
      ValueNode& node = (*nodes_)[top.node];
      node.end = static_cast<uint32_t>(at_);
      node.next = static_cast<uint32_t>(nodes_->size());
    }
    --depth_;
  }

  // Looks at a key before it is checked: bytes past the end make it no string at worst.
  void note_key(const Open& top) {
    if (nodes_ == nullptr) return;
    const std::string_view rest = value_.substr(at_);
    const bool text = !rest.empty() && rest.front() == static_cast<char>(Tag::kStr);
    constexpr std::string_view kTypeKey("s\x05\0\0\0$type", 10);
    if (!text || rest.starts_with(kTypeKey)) (*nodes_)[top.node].plain_keys = false;
  }

  std::string_view value_;
  std::vector<ValueNode>* nodes_;
  size_t at_ = 0;
  unsigned depth_ = 0;
  Open open_[kMaxContainers];
};

}  // namespace

const char* walk_value(std::string_view value, std::vector<ValueNode>* nodes, size_t* where) {
  Walk walk(value, nodes);
  const char* wrong = walk.run();
  if (where != nullptr) *where = walk.at();
  return wrong;
}

namespace {
// The whole size of an accepted scalar; 0: a container.
size_t scalar_size(const ValueCursor& cursor) {
  switch (cursor.tag()) {
    case Tag::kNone:
    case Tag::kTrue:
    case Tag::kFalse:
      return 1;
    case Tag::kSmall:
      return 2;
    case Tag::kInt:
    case Tag::kFloat:
      return 9;
    case Tag::kComplex:
      return 17;
    case Tag::kBigInt:
    case Tag::kStr:
    case Tag::kBytes:
      return 5 + size_t{cursor.count()};
    case Tag::kList:
    case Tag::kTuple:
    case Tag::kSet:
    case Tag::kFrozenSet:
    case Tag::kDict:
    case Tag::kArray:
      return 0;
  }
  return 0;
}
}  // namespace

int64_t ValueCursor::integer() const {
  return tag() == Tag::kSmall ? static_cast<uint8_t>(value[at + 1]) : load<int64_t>(value, at + 1);
}

void ValueCursor::enter() {
  ++node;
  at += 5;
}

ArrayHead ValueCursor::enter_array() {
  ArrayHead head;
  ++node;
  at += 1;
  head.dtype = counted();
  at += 5 + head.dtype.size();
  const uint32_t dimensions = count();
  at += 5;
  for (uint32_t i = 0; i < dimensions; ++i) {
    head.shape.push_back(integer());
    at += tag() == Tag::kSmall ? 2 : 9;
  }
  return head;
}

std::string_view ValueCursor::item() const {
  const size_t scalar = scalar_size(*this);
  return value.substr(at, scalar != 0 ? scalar : here().end - at);
}

void ValueCursor::skip() {
  if (const size_t scalar = scalar_size(*this); scalar != 0) {
    at += scalar;
    return;
  }
  const ValueNode& container = here();
  at = container.end;
  node = container.next;
}

sys::Result<void> check(std::string_view value) {
  size_t where = 0;
  const char* wrong = walk_value(value, nullptr, &where);
  if (wrong == nullptr) return {};
  return sys::Error::because("value, byte " + std::to_string(where) + ": " + wrong);
}

}  // namespace runtime
