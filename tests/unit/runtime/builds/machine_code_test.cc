#include "runtime/builds/machine_code.h"

#include <elf.h>
#include <sys/mman.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstring>
#include <vector>

#include "sandbox/sys/fd.h"

namespace {

// An executable of so many parts, of which one names an interpreter (-1: none does).
sys::OwnedFd program(uint16_t parts, int interpreter) {
  Elf64_Ehdr head{};
  std::memcpy(head.e_ident, ELFMAG, SELFMAG);
  head.e_ident[EI_CLASS] = ELFCLASS64;
  head.e_phentsize = sizeof(Elf64_Phdr);
  head.e_phoff = sizeof head;
  head.e_phnum = parts;
  std::vector<Elf64_Phdr> table(parts);
  if (interpreter >= 0) table[static_cast<size_t>(interpreter)].p_type = PT_INTERP;
  sys::OwnedFd file(::memfd_create("program", MFD_CLOEXEC));
  REQUIRE(::write(file.get(), &head, sizeof head) == sizeof head);
  const auto bytes = static_cast<ssize_t>(table.size() * sizeof(Elf64_Phdr));
  REQUIRE(::write(file.get(), table.data(), table.size() * sizeof(Elf64_Phdr)) == bytes);
  return file;
}

}  // namespace

TEST_CASE("a program that names an interpreter has libraries loaded with it", "[machine_code]") {
  CHECK(runtime::is_dynamic_program(program(9, 4).get()));
  CHECK_FALSE(runtime::is_dynamic_program(program(9, -1).get()));
}

TEST_CASE("of a program no more parts are read than the kernel reads", "[machine_code]") {
  CHECK(runtime::is_dynamic_program(program(1170, 1169).get()));
  CHECK_FALSE(runtime::is_dynamic_program(program(65535, 1170).get()));
}

TEST_CASE("what is cut off or a script counts as a program with libraries", "[machine_code]") {
  const sys::OwnedFd cut = program(9, -1);
  REQUIRE(::ftruncate(cut.get(), 100) == 0);
  CHECK(runtime::is_dynamic_program(cut.get()));
  const sys::OwnedFd script(::memfd_create("script", MFD_CLOEXEC));
  REQUIRE(::write(script.get(), "#!/bin/sh\n", 10) == 10);
  CHECK(runtime::is_dynamic_program(script.get()));
}
