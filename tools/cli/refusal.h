#pragma once
// What a command cannot do: said on stderr, with the exit code that goes with it.

#include <string>
#include <string_view>

#include "tools/cli/options.h"

namespace cli {

struct Refusal {
  std::string sentence;
  int code = kExitUsage;
};

// Whether from now on as objects, for programs: {"error":{"command":"run","message":SENTENCE}}.
void refuse_in_json(bool wanted);

// "zygo run: SENTENCE" on stderr; returns the code. `hint` is a further line for people.
int refuse(std::string_view command, const Refusal& refusal, std::string_view hint = {});

}  // namespace cli
