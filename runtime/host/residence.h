#pragma once
// Residence: what of an address space is in memory.

#include "sandbox/sys/units.h"

namespace runtime {

struct Residence {
  sys::Bytes all;     // but page tables
  sys::Bytes files;   // of it, pages of files that are mapped
  sys::Bytes tables;  // page tables
};

}  // namespace runtime
