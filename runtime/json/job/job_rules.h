#pragma once
// Rules of a job that no single field can say, whoever has read the fields. Internal to job_json
// and job_builder. Pure.

#include <string>
#include <string_view>

#include "runtime/job/job.h"

namespace runtime {

// files["a/b"]
std::string place_of(const std::string& field, const std::string& path);

// Null, or the sentence: what tests, checker and interactor say of each other.
const char* objection_to_tests(const Job& job);

// Null, or the sentence: what a step of a session cannot be beside.
const char* objection_to_step(const Job& job);

// Fields that the job has of its own, and not of the defaults.
struct Given {
  bool source = false, func = false, inputs = false, calls = false;
  std::string_view of_fixed_mode = {};  // a field that means nothing without it
};
// Empty, or the sentence. Forgets what the defaults say of the other mode.
std::string objection_to_job(const Given& given, Job& job);

// Empty, or the sentence.
std::string objection_to_files_of_tests(const Job& job);

}  // namespace runtime
