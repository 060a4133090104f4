#pragma once
// The built-in corpus: programs of Python whose labels are known by construction, because each
// measures by itself what it uses. A seed decides everything. Pure.

#include <span>
#include <string>
#include <vector>

#include "sandbox/sys/result.h"
#include "tools/cli/certify/corpus.h"
#include "tools/cli/certify/dice.h"

namespace cli {

// A program as a line of a corpus.
struct MixedProgram {
  std::string line;
  bool is_band = false;
};

// A way to draw programs of one kind; `weight` in a hundred programs are of it.
struct Recipe {
  const char* name;
  unsigned weight;
  MixedProgram (*draw)(Dice& dice, const std::string& id);
};
std::span<const Recipe> recipes();

sys::Result<std::vector<LabelledJob>> built_in_corpus(size_t count, uint64_t seed,
                                                      const runtime::JobDefaults& defaults);

}  // namespace cli
