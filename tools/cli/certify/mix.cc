#include "tools/cli/certify/mix.h"

#include <fmt/format.h>

#include "tools/cli/certify/scoring.h"

namespace cli {
namespace {

// Cards in the place of dice: a small set has each kind in its share, too.
std::vector<const Recipe*> deck_of_recipes() {
  std::vector<const Recipe*> deck;
  for (const Recipe& recipe : recipes()) deck.insert(deck.end(), recipe.weight, &recipe);
  return deck;
}

}  // namespace

sys::Result<std::vector<LabelledJob>> built_in_corpus(size_t count, uint64_t seed,
                                                      const runtime::JobDefaults& defaults) {
  Dice dice(seed);
  const std::vector<const Recipe*> deck = deck_of_recipes();
  std::vector<LabelledJob> corpus;
  for (const size_t card : random_order(deck.size(), count, dice)) {
    const Recipe& recipe = *deck[card];
    const std::string id = fmt::format("{}-{}", recipe.name, corpus.size() + 1);
    const MixedProgram program = recipe.draw(dice, id);
    LabelledJob job = TRY(parse_labelled(program.line, defaults));
    job.is_band = program.is_band;
    corpus.push_back(std::move(job));
  }
  return corpus;
}

}  // namespace cli
