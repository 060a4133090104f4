#include "tools/cli/judge/package/yaml.h"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <optional>
#include <sstream>

#include "runtime/values/utf8.h"

namespace cli {
namespace {

// Thrown through yaml-cpp by our handler; caught in parse_yaml().
struct Objection {
  int line;
  std::string why;
};

// Builds the tree out of yaml-cpp's events. Nothing is ever copied: without aliases the tree is no
// larger than the text.
class Builder : public YAML::EventHandler {
 public:
  YamlValue take() { return std::move(root_); }

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (begun_) object(mark, "more than one document");
    begun_ = true;
  }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    add(mark, "", anchor, YamlValue::Kind::kNull);
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
    object(mark, "aliases are not accepted");
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    Frame* frame = open_.empty() ? nullptr : &open_.back();
    if (frame != nullptr && frame->value->kind == YamlValue::Kind::kMap && !frame->key) {
      check(mark, tag, anchor);
      check_key(mark, *frame->value, value);
      frame->key = value;
      return;
    }
    add(mark, tag, anchor, YamlValue::Kind::kScalar).scalar = value;
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    descend(mark, tag, anchor, YamlValue::Kind::kList);
  }
  void OnSequenceEnd() override { open_.pop_back(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    descend(mark, tag, anchor, YamlValue::Kind::kMap);
  }
  void OnMapEnd() override { open_.pop_back(); }

 private:
  // A list or map that is not complete. Its parent grows no more meanwhile, so the pointer holds.
  struct Frame {
    YamlValue* value;
    std::optional<std::string> key = std::nullopt;  // of a map: its value comes next
  };

  [[noreturn]] static void object(const YAML::Mark& mark, std::string why) {
    throw Objection{mark.line + 1, std::move(why)};
  }

  void check(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor) {
    if (anchor != 0) object(mark, "anchors are not accepted");
    if (!tag.empty() && tag != "?" && tag != "!") object(mark, "tags are not accepted");
    if (++values_ > kMostYamlValues)
      object(mark, fmt::format("more than {} values", kMostYamlValues));
  }

  static void check_key(const YAML::Mark& mark, const YamlValue& map, const std::string& key) {
    const bool twice = std::any_of(map.fields.begin(), map.fields.end(),
                                   [&key](const auto& field) { return field.key == key; });
    if (twice) object(mark, fmt::format("\"{}\" is given twice", key));
  }

  YamlValue& add(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                 YamlValue::Kind kind) {
    check(mark, tag, anchor);
    YamlValue& made = place(mark);
    made.kind = kind;
    made.line = mark.line + 1;
    return made;
  }

  YamlValue& place(const YAML::Mark& mark) {
    if (open_.empty()) return root_;
    Frame& frame = open_.back();
    if (frame.value->kind == YamlValue::Kind::kList) return frame.value->items.emplace_back();
    if (!frame.key) object(mark, "a key that is not a word");
    frame.value->fields.push_back({*std::move(frame.key), {}});
    frame.key.reset();
    return frame.value->fields.back().value;
  }

  void descend(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
               YamlValue::Kind kind) {
    if (open_.size() == kDeepestYaml)
      object(mark, fmt::format("nested more than {} levels deep", kDeepestYaml));
    YamlValue& made = add(mark, tag, anchor, kind);
    open_.push_back({&made});
  }

  YamlValue root_;
  std::vector<Frame> open_;
  size_t values_ = 0;
  bool begun_ = false;
};

sys::Error at_line(int line, std::string_view why) {
  return sys::Error::because(fmt::format("line {}: {}", std::max(line, 1), why));
}

// yaml-cpp takes a NUL for the end, and reads UTF-16 where it finds a mark of it.
std::optional<sys::Error> check_text(std::string_view text) {
  if (text.size() > kLongestYaml)
    return at_line(1, fmt::format("longer than {} bytes", kLongestYaml));
  const size_t good = runtime::valid_utf8_prefix(text);
  const size_t bad = std::min(good, std::min(text.find('\0'), text.size()));
  if (bad == text.size()) return std::nullopt;
  const auto line = std::count(text.begin(), text.begin() + static_cast<ptrdiff_t>(bad), '\n');
  return at_line(static_cast<int>(line) + 1, bad == good ? "not UTF-8" : "a NUL character");
}

}  // namespace

sys::Result<YamlValue> parse_yaml(std::string_view text) {
  if (auto error = check_text(text)) return *std::move(error);
  Builder builder;
  try {
    std::istringstream stream{std::string(text)};
    YAML::Parser parser(stream);
    while (parser.HandleNextDocument(builder)) {
    }
  } catch (const Objection& objection) {
    return at_line(objection.line, objection.why);
  } catch (const YAML::Exception& error) {
    return at_line(error.mark.line + 1, error.msg);
  } catch (const std::exception& error) {
    return at_line(1, error.what());
  }
  return builder.take();
}

}  // namespace cli
