#pragma once
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>

constexpr int kRight = 42, kWrong = 43;

[[noreturn]] inline void wrong(const std::string& feedback, const char* why) {
  std::ofstream(feedback + "judgemessage.txt") << why << '\n';
  std::exit(kWrong);
}
