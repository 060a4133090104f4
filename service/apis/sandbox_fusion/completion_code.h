#pragma once
// Finds the program in a language model's answer: a fenced block of Markdown, one that is not
// closed, or, where there is no fence, text that looks like code. Pure, and linear in the text,
// which is untrusted.

#include <optional>
#include <string>
#include <string_view>

namespace service {

// `language`: as SandboxFusion names it. Of complete blocks the first of that language, or else the
// first of any; then what follows a fence that is not closed; then, for Python and bash, lines that
// look like code. Empty: there is none.
std::string code_of_completion(std::string_view completion, std::string_view language);

}  // namespace service
