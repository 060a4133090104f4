#pragma once
// zygo-fixed.so, preloaded into the programs of jobs in fixed mode: time, randomness and the order
// of directories come out the same in every run. It makes a program's own view and guards nothing:
// whoever goes past the C library sees the real ones. This is all that others know of it.

#include <cstdint>

namespace shim {

constexpr const char* kFixedLibrary = "zygo-fixed.so";
// SEED:START:STEP_US of a process and all that it starts.
constexpr const char* kFixedName = "ZYGO_FIXED";
constexpr const char* kFixedInTemplate = "0:1577836800:1";

struct FixedView {
  uint64_t seed = 0;
  int64_t start = 0;    // seconds since 1970
  int64_t step_us = 0;  // what each reading of a clock adds; 0: clocks stand still
};

}  // namespace shim

// For the shim in a template's process, which finds them by name: from now on everything is real;
// from now on it is fixed, and begins anew.
extern "C" {
[[gnu::weak]] void zygo_fixed_pause();
[[gnu::weak]] void zygo_fixed_begin(const shim::FixedView* view);
}
