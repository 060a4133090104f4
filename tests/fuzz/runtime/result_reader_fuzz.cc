// The reader of results: any bytes are an error or a result, and a result that was read is written
// as a line that is read as the same result again.

#include "runtime/json/result/result_json.h"
#include "runtime/json/result/result_reader.h"
#include "runtime/remote/job_wire.h"
#include "runtime/remote/wire.h"
#include "sandbox/sys/result.h"
#include "tests/fuzz/input.h"

namespace {

// All of its members, NaN included.
std::string bytes_of(const runtime::JobResult& result) {
  runtime::WireWriter out;
  write_result(result, out);
  return out.take();
}

std::string line_of(const runtime::JobResult& result) {
  std::string line;
  append_result(result, line);
  return line;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  fuzz::Input input(data, size);
  const auto read = runtime::parse_result(input.rest(), {"a part", ""});
  if (!read) {
    VERIFY(!read.error().text().empty());
    return 0;
  }
  const std::string line = line_of(*read);
  const auto again = runtime::parse_result(line);
  VERIFY(again.ok());
  VERIFY(bytes_of(*again) == bytes_of(*read));
  VERIFY(line_of(*again) == line);
  return 0;
}
