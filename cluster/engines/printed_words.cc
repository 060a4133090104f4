#include "cluster/engines/printed_words.h"

#include <fmt/format.h>

namespace cluster {

PilotFiles files_of(const PrintOptions& options) {
  return {options.token_file, options.ca_file, options.cert_file, options.key_file, options.files};
}

std::vector<std::string> paths_of(const PrintOptions& options) {
  std::vector<std::string> paths;
  for (const std::string* each :
       {&options.token_file, &options.ca_file, &options.cert_file, &options.key_file}) {
    if (!each->empty()) paths.push_back(*each);
  }
  for (const NamedFile& each : options.files) paths.push_back(each.path);
  return paths;
}

std::string last_name(std::string_view path) {
  return std::string(path.substr(path.rfind('/') + 1));  // npos + 1: all of it
}

PilotFiles files_in(const std::string& folder, const PrintOptions& options) {
  const auto in = [&](const std::string& path) {
    return path.empty() ? "" : folder + last_name(path);
  };
  PilotFiles files = {
      in(options.token_file), in(options.ca_file), in(options.cert_file), in(options.key_file), {}};
  for (const auto& [option, path] : options.files) files.others.push_back({option, in(path)});
  return files;
}

std::vector<std::string> pilot_words(const PrintOptions& options, const PilotFiles& files) {
  std::vector<std::string> words = {"pilot"};
  const auto add = [&](const char* option, const std::string& value) {
    if (value.empty()) return;
    words.emplace_back(option);
    words.push_back(value);
  };
  for (const std::string& url : options.joins) add("--join", url);
  add("--token-file", files.token);
  add("--ca-file", files.ca);
  add("--cert-file", files.certificate);
  add("--key-file", files.key);
  for (const auto& [option, path] : files.others) add(option.c_str(), path);
  // Jobs that run at the signal have three quarters of the time; the rest is for saying good-bye.
  const auto before = options.drain_before.count();
  add("--drain-before", fmt::format("{}s", before));
  add("--grace", options.grace ? fmt::format("{}ms", options.grace->count())
                               : fmt::format("{}s", before * 3 / 4));
  words.insert(words.end(), options.arguments.begin(), options.arguments.end());
  return words;
}

std::string shell_word(std::string_view word) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=:,./@%";
  if (!word.empty() && word.find_first_not_of(kPlain) == word.npos) return std::string(word);
  std::string quoted = "'";
  for (const char c : word) {
    if (c == '\'') {
      quoted += "'\\''";
    } else {
      quoted += c;
    }
  }
  return quoted + "'";
}

std::string shell_line(const std::vector<std::string>& words) {
  std::string line;
  for (const std::string& word : words) {
    if (!line.empty()) line += ' ';
    line += shell_word(word);
  }
  return line;
}

}  // namespace cluster
