#include "runtime/json/array_data.h"

#include <array>
#include <cstring>

#include "shim/value_format.h"

namespace runtime {

using shim::Tag;

namespace {

enum class Leaf : uint8_t { kBool, kSigned, kUnsigned, kReal, kComplex };

struct Dtype {
  std::string_view name;
  Leaf leaf;
  unsigned bits;
};
constexpr std::array<Dtype, 14> kDtypes = {{{"bool", Leaf::kBool, 8},
                                            {"int8", Leaf::kSigned, 8},
                                            {"int16", Leaf::kSigned, 16},
                                            {"int32", Leaf::kSigned, 32},
                                            {"int64", Leaf::kSigned, 64},
                                            {"uint8", Leaf::kUnsigned, 8},
                                            {"uint16", Leaf::kUnsigned, 16},
                                            {"uint32", Leaf::kUnsigned, 32},
                                            {"uint64", Leaf::kUnsigned, 64},
                                            {"float16", Leaf::kReal, 16},
                                            {"float32", Leaf::kReal, 32},
                                            {"float64", Leaf::kReal, 64},
                                            {"complex64", Leaf::kComplex, 64},
                                            {"complex128", Leaf::kComplex, 128}}};

class ArrayData {
 public:
  ArrayData(const Dtype& dtype, const std::vector<int64_t>& shape, std::string_view data)
      : dtype_(dtype), shape_(shape), rest_(data) {}

  // Recursive; the shape bounds the depth.
  const char* objection(size_t dimension) {
    if (dimension == shape_.size()) return leaf() ? nullptr : "an item does not fit the dtype";
    if (static_cast<Tag>(rest_.front()) != Tag::kList) return kShape;
    const auto count = load<uint32_t>();
    if (count != shape_[dimension]) return kShape;
    rest_.remove_prefix(5);
    for (uint32_t i = 0; i < count; ++i) {
      if (const char* wrong = objection(dimension + 1)) return wrong;
    }
    return nullptr;
  }

 private:
  static constexpr const char* kShape = "the data does not have this shape";

  template <typename T>
  T load() const {
    T value;
    std::memcpy(&value, rest_.data() + 1, sizeof value);
    return value;
  }

  bool leaf() {
    const Tag tag = static_cast<Tag>(rest_.front());
    const bool real_or_more = dtype_.leaf == Leaf::kReal || dtype_.leaf == Leaf::kComplex;
    switch (tag) {
      case Tag::kTrue:
      case Tag::kFalse:
        return dtype_.leaf == Leaf::kBool && step(1);
      case Tag::kSmall:
        return in_range(static_cast<uint8_t>(rest_[1])) && step(2);
      case Tag::kInt:
        return in_range(load<int64_t>()) && step(9);
      case Tag::kFloat:
        return real_or_more && step(9);
      case Tag::kComplex:
        return dtype_.leaf == Leaf::kComplex && step(17);
      case Tag::kBigInt:
        return is_uint64() && step(5 + size_t{load<uint32_t>()});
      default:
        return false;  // everything else is no number
    }
  }

  bool step(size_t size) {
    rest_.remove_prefix(size);
    return true;
  }

  bool in_range(int64_t value) const {
    switch (dtype_.leaf) {
      case Leaf::kBool:
        return false;
      case Leaf::kReal:
      case Leaf::kComplex:
        return true;
      case Leaf::kUnsigned:
        return value >= 0 && (dtype_.bits == 64 || value >> dtype_.bits == 0);
      case Leaf::kSigned: {
        const int64_t above = value >> (dtype_.bits - 1);
        return above == 0 || above == -1;
      }
    }
    return false;
  }

  bool is_uint64() const {
    constexpr std::string_view kMax = "18446744073709551615";
    const std::string_view digits = rest_.substr(5, load<uint32_t>());
    return dtype_.name == "uint64" && digits.front() != '-' &&
           (digits.size() < kMax.size() || (digits.size() == kMax.size() && digits <= kMax));
  }

  const Dtype& dtype_;
  const std::vector<int64_t>& shape_;
  std::string_view rest_;
};

}  // namespace

const char* objection_to_array(std::string_view dtype, const std::vector<int64_t>& shape,
                               std::string_view data) {
  for (const Dtype& known : kDtypes) {
    if (known.name == dtype) return ArrayData(known, shape, data).objection(0);
  }
  return "unknown dtype";
}

}  // namespace runtime
