#pragma once
// The first difference between two results of one job. What a clock or a meter says is no part of
// it, and of a label that a limit decided only the label counts: where such a run was stopped, it
// does not repeat. Pure.

#include <cstddef>
#include <optional>
#include <string>

#include "runtime/job/result.h"

namespace cli {

struct Difference {
  std::string axis;   // label, exit, detail, value, stdout, stderr, exception, outputs
  std::string where;  // below the axis: a value's path, a member, a file; may be empty
  struct Place {
    size_t byte = 0;              // from 0
    size_t line = 1, column = 1;  // in characters
    bool operator==(const Place&) const = default;
  };
  std::optional<Place> place;  // of text
  std::string recorded, here;  // what stands there on either side, cut short
  bool operator==(const Difference&) const = default;
};

enum class Compared : uint8_t { kEverything, kLabel };
Compared compared_of(const runtime::Verdict& verdict);

// As a result is read again that was written: bytes that JSON cannot say become alike.
runtime::JobResult as_written(const runtime::JobResult& result);

// Both as they are read. None: they are the same.
std::optional<Difference> difference_of(const runtime::JobResult& recorded,
                                        const runtime::JobResult& here);

}  // namespace cli
