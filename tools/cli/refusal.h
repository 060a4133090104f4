#pragma once
// The end of a command that runs no program: an answer on stdout, or a refusal on stderr with its
// exit code.

#include <string>
#include <string_view>

#include "tools/cli/options.h"
#include "tools/cli/text.h"

namespace cli {

struct Refusal {
  std::string sentence;
  int code = kExitUsage;
  Lines lines = Lines::kKeep;  // kEscape: it repeats what a file of anyone says
};

// Refusals are objects from now on, for programs, if that is wanted:
// {"error":{"command":"run","message":SENTENCE}}.
void refuse_in_json(bool wanted);

// The text and a newline on stdout; returns kExitOk, also where nobody reads it.
int say(const std::string& text);

// "zygo run: SENTENCE" on stderr; returns the code. `hint` is a further line for people.
int refuse(std::string_view command, const Refusal& refusal, std::string_view hint = {});

}  // namespace cli
