#include "runtime/json/job/job_parts.h"

#include <algorithm>
#include <set>

#include "images/sha256.h"
#include "runtime/values/json_text.h"
#include "runtime/values/utf8.h"
#include "sandbox/policy.h"

namespace runtime {

using Type = JsonReader::Type;

namespace {

bool has_nul(std::string_view text) { return text.find('\0') != std::string_view::npos; }

// Python allows letters of every script; what the other bytes mean is left to the interpreter.
bool is_identifier(std::string_view name) {
  if (name.empty() || is_digit(name.front())) return false;
  return std::all_of(name.begin(), name.end(), [](char c) {
    return is_alpha(c) || is_digit(c) || c == '_' || static_cast<uint8_t>(c) >= 0x80;
  });
}

bool is_template_name(std::string_view name) {
  if (name.empty() || name.front() == '.' || name.front() == '-') return false;
  return std::all_of(name.begin(), name.end(), [](char c) {
    return is_alpha(c) || is_digit(c) ||
           std::string_view("._-+#").find(c) != std::string_view::npos;
  });
}

bool is_tenant_name(std::string_view name) {
  return std::all_of(name.begin(), name.end(), [](char c) {
    return is_alpha(c) || is_digit(c) ||
           std::string_view("._:@-").find(c) != std::string_view::npos;
  });
}

bool read_text(JsonReader& in, size_t limit, std::string& text) {
  if (in.peek() != Type::kString) return in.expected("a string");
  if (!in.read_string(text)) return false;
  if (text.size() > limit) return in.fail("longer than " + std::to_string(limit) + " bytes");
  return !has_nul(text) || in.fail(kNulInside);
}

// One of "text", "b64" and "blob", perhaps with "executable"; or "directory" alone, which gives the
// path the slash at its end.
bool read_content(JsonReader& in, InputFile& file) {
  constexpr const char* kForms =
      R"({"text": ..}, {"b64": ..}, {"blob": ..} or {"directory": true})";
  if (in.peek() != Type::kObject) return in.expected(kForms);
  std::string key, text;
  bool given = false, has_bit = false, directory = false;
  in.open_object();
  for (bool first = true; in.next_key(first, key); first = false) {
    if (key == "executable") {
      if (std::exchange(has_bit, true)) return in.fail("executable: given twice");
      if (in.peek() != Type::kBoolean) return in.expected("true or false");
      if (!in.read_boolean(file.executable)) return false;
      continue;
    }
    if (key == "directory") {
      if (in.peek() != Type::kBoolean) return in.expected("true");
      if (!in.read_boolean(directory)) return false;
      if (!directory || !in.ok()) return in.fail("directory: expected true");
      if (std::exchange(given, true)) return in.fail("a directory has no content");
      continue;
    }
    if (key != "text" && key != "b64" && key != "blob")
      return in.fail("unknown field " + printable(key) +
                     "; expected text, b64, blob, executable or directory");
    if (std::exchange(given, true))
      return in.fail(directory ? "a directory has no content" : "one of text, b64 and blob, once");
    if (key == "blob") {
      if (!read_digest(in, file.blob)) return false;
      continue;
    }
    if (in.peek() != Type::kString) return in.expected("a string");
    if (!in.read_string(text)) return false;
    if (key == "text") file.content = text;
    if (key == "b64" && !append_from_base64(text, file.content)) return in.fail("not base64");
  }
  if (!in.ok()) return false;
  if (directory && has_bit) return in.fail("executable: not of a directory");
  if (directory) file.path += '/';
  return given || in.fail(std::string("expected ") + kForms);
}

// The path of a directory without the slash: a file in its place has the same.
std::string_view name_of(const InputFile& file) {
  const std::string_view path = file.path;
  return path.substr(0, path.size() - path.ends_with('/'));
}

bool paths_fit_together(JsonReader& in, const std::vector<InputFile>& files) {
  const std::optional<Misfit> misfit = misfit_among(files);
  if (!misfit) return true;
  in.fail(misfit->why);
  return in.at_key(misfit->path);
}

// Puts `fresh` over what the defaults gave, by key.
template <typename Item, typename Key>
void merge(std::vector<Item>& into, std::vector<Item>& fresh, Key key) {
  std::set<std::string_view> names;
  for (const Item& item : fresh) names.insert(key(item));
  std::erase_if(into, [&](const Item& item) { return names.contains(key(item)); });
  std::move(fresh.begin(), fresh.end(), std::back_inserter(into));
}

}  // namespace

bool is_name_of_variable(std::string_view name) {
  return !name.empty() && !has_nul(name) && name.find('=') == std::string_view::npos;
}

const char* objection_to_file(std::string_view path) {
  constexpr size_t kLongest = 4096;
  return path.size() > kLongest ? "a path is too long" : objection_to_path(path);
}

bool FolderFirst::operator()(std::string_view one, std::string_view other) const {
  const auto rank = [](char c) { return c == '/' ? 0 : static_cast<uint8_t>(c) + 1; };
  return std::ranges::lexicographical_compare(one, other, {}, rank, rank);
}

namespace {

// Tells whether `path` is a folder of `next`; the paths come in their order.
bool is_folder_of(std::string_view path, std::string_view next) {
  return next.size() > path.size() && next.starts_with(path) && next[path.size()] == '/';
}

}  // namespace

std::optional<Misfit> misfit_among(const std::vector<InputFile>& files) {
  const Paths paths = paths_of(files);
  const auto folder = std::ranges::adjacent_find(paths, is_folder_of);
  if (folder == paths.end()) return std::nullopt;
  return Misfit{std::string(*std::next(folder)), "the folder of this path is given as a file"};
}

void merge_files(std::vector<InputFile>& files, std::vector<InputFile>& fresh) {
  merge(files, fresh, [](const InputFile& file) { return name_of(file); });
}

Paths paths_of(const std::vector<InputFile>& files) {
  Paths paths;
  for (const InputFile& file : files) paths.insert(file.path);
  return paths;
}

const InputFile* misplaced(const Paths& paths, const std::vector<InputFile>& more) {
  auto is_misplaced = [&paths](const InputFile& file) {
    const auto behind = paths.upper_bound(file.path);
    if (behind != paths.end() && is_folder_of(file.path, *behind)) return true;
    return behind != paths.begin() && is_folder_of(*std::prev(behind), file.path);
  };
  const auto found = std::find_if(more.begin(), more.end(), is_misplaced);
  return found == more.end() ? nullptr : &*found;
}

std::string printable(std::string_view name) {
  constexpr size_t kLongest = 64;
  std::string quoted;
  append_json_string(utf8_head(name, kLongest), quoted);
  return quoted.substr(1, quoted.size() - 2);
}

bool read_digest(JsonReader& in, std::string& digest) {
  if (in.peek() != Type::kString) return in.expected("a string");
  if (!in.read_string(digest)) return false;
  return images::is_sha256(digest) || in.fail("expected sha256: and 64 hexadecimal digits");
}

std::string objection_to_text(const Field& field, const std::string& text) {
  if (field.path == "id" && text.empty()) return "is not empty";
  if (field.path == "func" && !is_identifier(text)) return "expected the name of a function";
  if (field.path == "tenant" && !is_tenant_name(text))
    return "expected a name of letters, digits, '.', '_', ':', '@' and '-'";
  if (field.path == "template" && !is_template_name(text))
    return "expected a name of letters, digits, '.', '_', '-', '+' and '#'";
  return "";
}

std::string objection_to_length(const Field& field, std::string_view text) {
  if (text.size() <= static_cast<size_t>(field.max)) return "";
  return "longer than " + std::to_string(field.max) + " bytes";
}

bool read_argv(JsonReader& in, const Field& field, std::vector<std::string>& argv) {
  if (in.peek() != Type::kArray) return in.expected("a list of strings");
  argv.clear();
  std::string text;
  in.open_array();
  for (; in.next_item(argv.empty()); argv.push_back(text)) {
    if (!read_text(in, static_cast<size_t>(field.max), text)) return in.at_index(argv.size());
  }
  return in.ok();
}

bool read_flags(JsonReader& in, const Field& field, std::vector<std::string>& flags) {
  if (!read_argv(in, field, flags)) return false;
  if (flags.size() > kMaxCompilerFlags)
    return in.fail("more than " + std::to_string(kMaxCompilerFlags) + " flags");
  for (size_t i = 0; i < flags.size(); ++i) {
    if (!flags[i].empty()) continue;
    in.fail("a flag is not empty");
    return in.at_index(i);
  }
  return true;
}

bool read_source(JsonReader& in, const Field& field, std::string& text, std::string& blob) {
  constexpr const char* kForms = R"(a string or {"blob": "sha256:.."})";
  blob.clear();
  if (in.peek() == Type::kString) {
    if (!in.read_string(text)) return false;
    const std::string wrong = objection_to_length(field, text);
    return wrong.empty() || in.fail(wrong);
  }
  if (in.peek() != Type::kObject) return in.expected(kForms);
  std::string key;
  in.open_object();
  bool first = true;
  for (; in.next_key(first, key); first = false) {
    if (key != "blob" || !first) return in.fail(std::string("expected ") + kForms);
    if (!read_digest(in, blob)) return in.at_field(".blob");
  }
  return in.ok() && (!first || in.fail(std::string("expected ") + kForms));
}

std::optional<Misfit> take_sources(std::vector<InputFile> sources, std::vector<InputFile>& files,
                                   std::vector<std::string>& names) {
  const Paths taken = paths_of(files);
  for (const InputFile& source : sources) {
    if (taken.contains(source.path)) return Misfit{source.path, "given in files, too"};
  }
  if (const InputFile* source = misplaced(taken, sources))
    return Misfit{source->path, "one of files is its folder, or lies in it"};
  for (InputFile& source : sources) {
    names.push_back(source.path);
    files.push_back(std::move(source));
  }
  return std::nullopt;
}

bool read_sources(JsonReader& in, const Field& field, std::vector<InputFile>& sources) {
  if (in.peek() != Type::kObject) return in.expected("an object of strings or blobs");
  sources.clear();
  std::set<std::string> paths;
  std::string path;
  in.open_object();
  while (in.next_key(sources.empty(), path)) {
    const char* wrong = objection_to_file(path);
    if (wrong == nullptr && !paths.insert(path).second) wrong = "given twice";
    if (wrong != nullptr) in.fail(wrong);
    InputFile source;
    source.path = path;
    if (!in.ok() || !read_source(in, field, source.content, source.blob)) return in.at_key(path);
    sources.push_back(std::move(source));
  }
  return in.ok() && paths_fit_together(in, sources);
}

bool read_globs(JsonReader& in, const Field& field, std::vector<std::string>& globs) {
  if (!read_argv(in, field, globs)) return false;
  for (size_t i = 0; i < globs.size(); ++i) {
    if (const char* wrong = objection_to_path(globs[i])) {
      in.fail(wrong);
      return in.at_index(i);
    }
  }
  return true;
}

bool read_env(JsonReader& in, const Field& field,
              std::vector<std::pair<std::string, std::string>>& env) {
  if (in.peek() != Type::kObject) return in.expected("an object of strings");
  std::vector<std::pair<std::string, std::string>> fresh;
  std::set<std::string> names;
  std::string name, value;
  in.open_object();
  for (; in.next_key(fresh.empty(), name); fresh.emplace_back(name, value)) {
    if (!is_name_of_variable(name)) {
      in.fail("not a name of a variable");
    } else if (!names.insert(name).second) {
      in.fail("given twice");
    }
    if (!in.ok() || !read_text(in, static_cast<size_t>(field.max), value)) return in.at_key(name);
  }
  if (in.ok()) merge(env, fresh, [](const auto& pair) -> std::string_view { return pair.first; });
  return in.ok();
}

bool read_files(JsonReader& in, std::vector<InputFile>& files) {
  if (in.peek() != Type::kObject) return in.expected("an object of files");
  std::vector<InputFile> fresh;
  std::set<std::string> paths;
  std::string path;
  in.open_object();
  while (in.next_key(fresh.empty(), path)) {
    InputFile file;
    const char* wrong = objection_to_file(path);
    if (wrong == nullptr && !paths.insert(path).second) wrong = "given twice";
    if (wrong != nullptr) in.fail(wrong);
    file.path = path;
    if (!in.ok() || !read_content(in, file)) return in.at_key(path);
    fresh.push_back(std::move(file));
  }
  if (!in.ok()) return false;
  merge_files(files, fresh);
  return paths_fit_together(in, files);
}

bool read_bytes(JsonReader& in, const Field& field, std::string& bytes) {
  constexpr const char* kForms = R"(a string or {"b64": ".."})";
  bytes.clear();
  std::string text;
  if (in.peek() == Type::kObject) {
    std::string key;
    in.open_object();
    if (!in.next_key(true, key) || key != "b64") return in.fail(std::string("expected ") + kForms);
    if (in.peek() != Type::kString) in.expected("a string");
    if (!in.ok() || !in.read_string(text)) return in.at_field(".b64");
    if (!append_from_base64(text, bytes)) {
      in.fail("not base64");
      return in.at_field(".b64");
    }
    if (in.next_key(false, key)) return in.fail(std::string("expected ") + kForms);
    if (!in.ok()) return false;
  } else {
    if (in.peek() != Type::kString) return in.expected(kForms);
    if (!in.read_string(bytes)) return false;
  }
  const std::string wrong = objection_to_length(field, bytes);
  return wrong.empty() || in.fail(wrong);
}

bool read_require(JsonReader& in, const Field& field, std::vector<std::string>& require) {
  if (in.peek() != Type::kArray) return in.expected("a list of level and layer names");
  require.clear();
  std::string name;
  in.open_array();
  for (; in.next_item(require.empty()); require.push_back(name)) {
    if (!read_text(in, static_cast<size_t>(field.max), name)) return in.at_index(require.size());
    if (sandbox::level_named(name) || sandbox::layer_named(name)) continue;
    in.fail("unknown level or layer " + printable(name));
    return in.at_index(require.size());
  }
  return in.ok();
}

}  // namespace runtime
