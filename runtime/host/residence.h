#pragma once
// Residence: what of an address space is in memory.

#include "sandbox/sys/units.h"

namespace runtime {

struct Residence {
  sys::Bytes all;        // but page tables
  sys::Bytes anonymous;  // of it, pages of no file, or changed ones of a private mapping
  sys::Bytes files;      // pages of files that are mapped
  sys::Bytes shared;     // pages of files in memory, and of shared memory
  sys::Bytes tables;     // page tables
};

}  // namespace runtime
