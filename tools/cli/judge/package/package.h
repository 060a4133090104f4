#pragma once
// Package: a problem package of the ICPC (Kattis) format as it lies in a folder: settings, tests,
// validator, example submissions. A value made of paths, which are relative to the folder; contents
// are read when they are used. Strict: errors name the file, and the field in it.

#include <optional>
#include <string>
#include <vector>

#include "tools/cli/judge/package/folder.h"
#include "tools/cli/judge/package/problem_yaml.h"
#include "tools/cli/judge/promise.h"

namespace cli {

struct PackageTest {
  std::string name;           // "secret/small/01"
  std::string input, answer;  // paths
  std::vector<std::string>
      flags;  // of the validator: the problem's, then those of the nearest group
  std::vector<std::string> argv = {};  // of the submission
  std::string files = {};              // a folder whose files lie beside it; empty: none
};

struct ExampleSubmission {
  std::string folder;                    // "accepted", "wrong_answer", ...
  std::string path;                      // a file, or a folder of files
  std::optional<Promise> expected = {};  // beyond what the folder says
  std::optional<ScoreRange> score = {};  // that it is to get
  bool measures = false;                 // accepted: it makes the time limit
};

struct Package {
  ProblemSettings settings;
  std::optional<sys::Milliseconds> time_limit;  // given; none: derived from what is accepted
  std::vector<PackageTest> tests;               // samples first, then by path
  std::vector<TestGroup> groups;                // of a scoring problem; data/ itself is the first
  std::string validator;                        // a file or a folder; empty: the default one
  std::vector<ExampleSubmission> examples;      // by path
  std::vector<std::string> ignored;             // files and fields that make no difference here
};

inline constexpr sys::Bytes kLargestTestFile = sys::mebibytes(256);

sys::Result<Package> read_package(const Folder& folder);

}  // namespace cli
