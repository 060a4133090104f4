#pragma once
// The parts of results that foreign APIs share. Pure.

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "runtime/job/result.h"

namespace service {

// The program's text as UTF-8; what is none is replaced.
std::string text_of(const runtime::Output& output);

// The run says nothing of the program: the sandbox or the caller is to blame.
bool is_not_the_programs(const runtime::Verdict& verdict);
// The program came to its end as it wanted to, whatever else is to be said of it.
bool ended_well(const runtime::Verdict& verdict);
// A limit other than time ended it.
bool met_limit_of_space(const runtime::Verdict& verdict);

// The text of this name in the verdict's detail; null: there is none.
const std::string* detail_text(const runtime::Verdict& verdict, std::string_view name);
// What ended it, in a line: the label, and the message or else the whole detail.
std::string why_of(const runtime::Verdict& verdict);
// The text and, on a line of its own, the other one.
std::string with_line(std::string text, std::string_view line);
nlohmann::json detail_of(const runtime::Verdict& verdict);
// The same as JSON text.
std::string text_of_detail(const runtime::Verdict& verdict);

// "full", ...; null: the job never reached a cell.
nlohmann::ordered_json level_of(const runtime::JobResult& result);
// zygo's own part of a foreign answer: id, label, by, detail, level.
nlohmann::ordered_json facts_of(const runtime::JobResult& result);

// A compiler that was too slow, where it is said of a build.
bool is_late_build(const runtime::Verdict& verdict);

// Rounded, as results have them.
int64_t build_ms_of(const std::optional<runtime::CompileReport>& report);  // 0: none
int64_t wall_ms_of(const runtime::Usage& usage);
int64_t cpu_ms_of(const runtime::Usage& usage);
nlohmann::json usage_of(const runtime::Usage& usage);

// On one line; text that is not UTF-8 is replaced.
std::string line_of(const nlohmann::ordered_json& value);

}  // namespace service
