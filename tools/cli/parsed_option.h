#pragma once
// An option whose text is read by one of our parsers: what that refuses, the command line refuses.

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

}  // namespace cli
