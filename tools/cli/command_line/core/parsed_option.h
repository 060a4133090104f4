#pragma once
// An option whose text is read by one of our parsers: its error is an error of the command line.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <string>

namespace cli {

template <typename T>
void parsed_option(CLI::App& app, const std::string& name, const char* type,
                   const std::string& help, T& into, auto parse) {
  app.add_option_function<std::string>(
         name,
         [name, parse, &into](const std::string& text) {
           auto value = parse(text);
           if (!value) throw CLI::ValidationError(name, value.error().text());
           into = *value;
         },
         help)
      ->type_name(type);
}

// An option N within bounds, which its help names in words.
inline void whole_number(CLI::Option* option, unsigned least, unsigned most) {
  CLI::Validator within = CLI::Range(least, most);
  within.description("");  // CLI11's own is "UINT in [1 - 8]"
  option->check(within)->type_name("N")->description(
      fmt::format("{}; {} to {}", option->get_description(), least, most));
}

}  // namespace cli
