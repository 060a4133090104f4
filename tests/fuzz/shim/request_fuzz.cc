// The request as a job's process reads it, and values both ways: whatever decodes to a Python
// object and encodes again is what the daemon accepts. The module under test is the one of
// shim/python, in an interpreter of this process.

#include <array>
#include <cstdint>

#include "runtime/values/value.h"
#include "sandbox/sys/result.h"
#include "shim/python/program.h"
#include "shim/python/values/decode.h"
#include "shim/python/values/encode.h"
#include "tests/fuzz/input.h"

namespace {

bool start_python() {
  Py_InitializeEx(0);
  if (!shim::prepare_interpreter()) {
    PyErr_Print();
    return false;
  }
  return true;
}

void check_inside(std::string_view part, std::string_view whole) {
  if (part.empty()) return;
  VERIFY(part.data() >= whole.data() && part.data() + part.size() <= whole.data() + whole.size());
}

void encode_again(const shim::Ref& value) {
  static std::array<char, size_t{64} << 10> space;
  shim::Encoder encoder(space.data(), space.size());
  encoder.open_results();
  const auto outcome = encoder.add_result(value.get());
  VERIFY((outcome == shim::Encoder::Outcome::kRaised) == (PyErr_Occurred() != nullptr));
  PyErr_Clear();
  if (outcome != shim::Encoder::Outcome::kFine) return;
  VERIFY(encoder.size() <= space.size());
  VERIFY(runtime::check({space.data(), encoder.size()}));
}

void decode_all(shim::Reader from, bool arrays) {
  while (!from.left().empty() && !from.broken()) {
    const shim::Ref value = shim::decode_argument(from, arrays);
    VERIFY(static_cast<bool>(value) == (PyErr_Occurred() == nullptr));
    PyErr_Clear();
    if (!value) return;
    encode_again(value);
  }
}

void read_texts(const shim::Items& items, std::string_view whole) {
  check_inside(items.bytes, whole);
  shim::Reader from(items.bytes);
  for (uint32_t i = 0; i < items.count && !from.broken(); ++i) {
    const std::string_view text = from.text(shim::Tag::kStr);
    check_inside(text, whole);
    if (!shim::decode_text(text)) PyErr_Clear();
  }
}

void request(std::string_view bytes) {
  const auto parsed = shim::parse_request(bytes);
  if (!parsed) return;
  for (std::string_view part :
       {parsed->source, parsed->function, parsed->calls.bytes, parsed->files.bytes}) {
    check_inside(part, bytes);
  }
  read_texts(parsed->argv, bytes);
  read_texts(parsed->environment, bytes);
  decode_all(shim::Reader(parsed->calls.bytes), parsed->arrays);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const bool started = start_python();
  VERIFY(started);
  fuzz::Input input(data, size);
  const uint8_t kind = input.byte();
  const std::string_view bytes = input.rest();
  if (kind % 3 == 0) {
    request(bytes);
  } else {
    decode_all(shim::Reader(bytes), kind % 3 == 2);
  }
  shim::Reader skipped(bytes);
  check_inside(skipped.skip(), bytes);
  return 0;
}
