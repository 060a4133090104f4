#pragma once
// As long as this is there, no file of this process can grow.

#include <sys/resource.h>

#include <catch2/catch.hpp>
#include <csignal>

namespace service {

struct FullDisk {
  rlimit before{};
  FullDisk() {
    std::signal(SIGXFSZ, SIG_IGN);
    REQUIRE(::getrlimit(RLIMIT_FSIZE, &before) == 0);
    rlimit none = before;
    none.rlim_cur = 1;
    REQUIRE(::setrlimit(RLIMIT_FSIZE, &none) == 0);
  }
  ~FullDisk() { ::setrlimit(RLIMIT_FSIZE, &before); }
  FullDisk(const FullDisk&) = delete;
};

}  // namespace service
