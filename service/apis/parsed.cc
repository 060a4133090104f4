#include "service/apis/parsed.h"

#include <utility>
#include <vector>

namespace service {

using nlohmann::json;

namespace {

// Takes what the parser finds. The library's own filter looks at all items of a list whenever one
// of them has ended: at a million of them, for minutes.
class Tree : public json::json_sax_t {
 public:
  explicit Tree(size_t deepest) : deepest_(deepest) {}
  json take() { return std::move(root_); }

  bool null() override { return put(nullptr); }
  bool boolean(bool value) override { return put(value); }
  bool number_integer(number_integer_t value) override { return put(value); }
  bool number_unsigned(number_unsigned_t value) override { return put(value); }
  bool number_float(number_float_t value, const string_t&) override { return put(value); }
  bool string(string_t& value) override { return put(std::move(value)); }
  bool binary(binary_t&) override { return false; }
  bool start_object(size_t) override { return open(json::object()); }
  bool start_array(size_t) override { return open(json::array()); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool key(string_t& name) override {
    key_ = std::move(name);
    return true;
  }
  bool parse_error(size_t, const std::string&, const nlohmann::detail::exception&) override {
    return false;
  }

 private:
  bool is_left_out() const { return left_out_ > 0 || open_.size() > deepest_; }

  // False: there are too many.
  bool put(json value) {
    if (is_left_out()) return true;
    keep(std::move(value));
    return ++values_ <= kMostValues;
  }

  bool open(json empty) {
    if (is_left_out()) {
      ++left_out_;
      return true;
    }
    open_.push_back(&keep(std::move(empty)));
    return ++values_ <= kMostValues;
  }

  bool close() {
    left_out_ > 0 ? void(--left_out_) : open_.pop_back();
    return true;
  }

  json& keep(json value) {
    if (open_.empty()) return root_ = std::move(value);
    json& in = *open_.back();
    if (in.is_object()) return in[key_] = std::move(value);
    in.push_back(std::move(value));
    return in.back();
  }

  const size_t deepest_;
  json root_;
  std::vector<json*> open_;  // from the root to the one that is read
  size_t left_out_ = 0;      // those below, which are too deep
  size_t values_ = 0;
  std::string key_;
};

}  // namespace

json parsed(std::string_view body, int deepest) {
  Tree tree(static_cast<size_t>(deepest));
  return json::sax_parse(body, &tree) ? tree.take() : json(json::value_t::discarded);
}

}  // namespace service
