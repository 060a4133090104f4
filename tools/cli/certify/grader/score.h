#pragma once
// Counts a grader's answers by exploit, honest variant and wrong program, and writes them. Pure.

#include <string>
#include <vector>

#include "tools/cli/certify/grader/answer.h"
#include "tools/cli/certify/grader/cases.h"
#include "tools/cli/text.h"

namespace cli {

// Of an exploit, an honest variant, or all wrong programs.
struct GraderRow {
  Intent intent = Intent::kHonest;
  std::string name, description;
  size_t cases = 0;
  size_t bad = 0;         // forged passes, false failures
  size_t no_verdict = 0;  // of an honest program it is a false failure, too
};

// A case whose answer was bad.
struct GraderFinding {
  GraderCase which;
  Judgement judgement;
};

struct GraderCertificate {
  std::string command;
  uint64_t seed = 0;
  std::string fence;                       // "namespaces" or "processes"
  std::vector<std::string> limits;         // in force
  std::vector<std::string> left_out = {};  // exploits
  std::vector<GraderRow> rows = {};        // in the order of the corpus
  std::vector<GraderFinding> findings = {};
  double seconds = 0;

  void add(const GraderCase& each, const GraderEnd& end);
  GraderRow total(Intent intent) const;
  bool ok() const { return findings.empty(); }
};

GraderCertificate empty_certificate(const GraderCorpus& corpus);

bool is_bad(Intent intent, Answer answer);

std::string grader_table(const GraderCertificate& made, const Style& style);
std::string grader_end(const GraderCertificate& made, const Style& style);
std::string grader_json(const GraderCertificate& made);

std::string grader_list(const GraderCorpus& corpus);
std::string grader_list_json(const GraderCorpus& corpus);

}  // namespace cli
