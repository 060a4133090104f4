// Runs a fuzz target over the files of a seed corpus, and over every prefix and every one-byte
// change of the short ones: the part of fuzzing that any compiler can do in a second, as a test.

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace {

constexpr size_t kShort = 512;
size_t runs = 0;

void run(const std::string& input) {
  // A copy of the exact size: an overrun leaves the allocation, where a sanitizer sees it.
  const std::vector<uint8_t> copy(input.begin(), input.end());
  LLVMFuzzerTestOneInput(copy.data(), copy.size());
  ++runs;
}

void run_neighbours(const std::string& input) {
  for (size_t size = 0; size < input.size(); ++size) run(input.substr(0, size));
  for (size_t at = 0; at < input.size(); ++at) {
    for (int change : {1, 0x20, 0x80, 0xFF}) {
      std::string changed = input;
      changed[at] = static_cast<char>(changed[at] ^ change);
      run(changed);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(argv[i])) {
      if (!entry.is_regular_file()) continue;
      std::ifstream file(entry.path(), std::ios::binary);
      const std::string input{std::istreambuf_iterator<char>(file), {}};
      run(input);
      if (input.size() <= kShort) run_neighbours(input);
    }
  }
  std::printf("%zu inputs\n", runs);
  return runs > 0 ? 0 : 1;
}
