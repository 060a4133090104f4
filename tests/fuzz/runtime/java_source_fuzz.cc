// The names that are found in a Java source: a stranger's bytes become a file's name and an
// argument of a command.

#include "runtime/builds/java_source.h"
#include "sandbox/sys/result.h"
#include "tests/fuzz/input.h"

namespace {

constexpr size_t kLongest = 255;  // of a file's name

void check_name(std::string_view name) {
  VERIFY(!name.empty() && name.front() != '-' && name.front() != '@' && name.front() != '{');
  for (char c : name) VERIFY(c != '/' && c != '\\' && static_cast<unsigned char>(c) > ' ');
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  fuzz::Input input(data, size);
  const runtime::JavaProgram program = runtime::java_program_in(input.rest());
  check_name(program.file);
  check_name(program.main_class);
  VERIFY(program.file.front() != '.' && program.file.ends_with(".java"));
  VERIFY(program.file.size() <= kLongest && program.main_class.size() <= 2 * kLongest);
  return 0;
}
