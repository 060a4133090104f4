#include "runtime/builds/machine_code.h"

#include <elf.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <vector>

namespace runtime {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPackages[] = {"llvmlite",    "torch",    "jaxlib", "tensorflow",
                                          "onnxruntime", "openvino", "taichi", "pyjion"};

bool holds_one(const fs::path& packages) {
  std::error_code ignored;
  for (std::string_view name : kPackages) {
    if (fs::is_directory(packages / name, ignored)) return true;
  }
  return false;
}

// PREFIX/lib/python3.11/site-packages, and Debian's dist-packages.
bool holds_one_below(const fs::path& prefix) {
  std::error_code ignored;
  for (const char* library : {"lib", "lib64", "local/lib"}) {
    for (const auto& entry : fs::directory_iterator(prefix / library, ignored)) {
      if (!entry.path().filename().string().starts_with("python3")) continue;
      if (holds_one(entry.path() / "site-packages") || holds_one(entry.path() / "dist-packages"))
        return true;
    }
  }
  return false;
}

}  // namespace

bool has_compiling_package(const sandbox::ImagePlan& plan, const std::string& python,
                           const std::string& root) {
  std::vector<fs::path> prefixes = {root + "/usr", root + "/usr/local"};
  if (!python.empty()) prefixes.push_back(fs::path(root + python).parent_path().parent_path());
  for (const sandbox::ImageEntry& entry : plan) {
    if (entry.kind == sandbox::ImageEntry::Kind::kBind) prefixes.emplace_back(entry.source);
  }
  for (const fs::path& prefix : prefixes) {
    if (holds_one_below(prefix)) return true;
  }
  return false;
}

// A static one may have a dynamic section (it is then relocated by itself), but names no
// interpreter.
bool is_dynamic_program(int fd) {
  Elf64_Ehdr head{};
  if (fd < 0 || ::pread(fd, &head, sizeof head, 0) != sizeof head) return true;
  const bool is_ours = std::memcmp(head.e_ident, ELFMAG, SELFMAG) == 0 &&
                       head.e_ident[EI_CLASS] == ELFCLASS64 &&
                       head.e_phentsize == sizeof(Elf64_Phdr);
  if (!is_ours) return true;
  // The kernel runs none with a longer table (load_elf_phdrs in fs/binfmt_elf.c).
  std::vector<Elf64_Phdr> parts(std::min<size_t>(head.e_phnum, 65536 / sizeof(Elf64_Phdr)));
  const size_t bytes = parts.size() * sizeof(Elf64_Phdr);
  const ssize_t got = ::pread(fd, parts.data(), bytes, static_cast<off_t>(head.e_phoff));
  if (got != static_cast<ssize_t>(bytes)) return true;
  return std::any_of(parts.begin(), parts.end(),
                     [](const Elf64_Phdr& part) { return part.p_type == PT_INTERP; });
}

}  // namespace runtime
