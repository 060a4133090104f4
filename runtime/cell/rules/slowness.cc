#include "runtime/cell/rules/slowness.h"

namespace runtime {

using sys::Nanoseconds;

namespace {

// A sleeper wakes up now and then, too.
constexpr int kAwakePart = 50;

bool is_much(Nanoseconds part, const Trouble& trouble) {
  return part >= kLeastTrouble && part > trouble.window / kTroublePart;
}

Nanoseconds wanted_cpu(const Waiting& own) { return own.ran / own.cpus + own.longest; }

}  // namespace

bool theft_explains(const Trouble& trouble, const Waiting& own) {
  return is_much(trouble.stolen, trouble) && wanted_cpu(own) > trouble.window / kAwakePart;
}

bool disk_explains(const Trouble& trouble, const Waiting& own) {
  return is_much(trouble.disk, trouble) && is_much(trouble.window - wanted_cpu(own), trouble);
}

}  // namespace runtime
