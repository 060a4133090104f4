#pragma once
// What the interpreter says to its kernel, as Jupyter's protocol has it. A cell can say anything by
// itself: what has another form is left out, and clients get no other. Pure.

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

namespace service::jupyter {

// The content of a message of this type about a cell's output (display_data, update_display_data,
// execute_result, clear_output); none: there is no such type. `count`: the cell's number.
std::optional<nlohmann::json> output_of(std::string_view type, const nlohmann::json& said,
                                        int64_t count);

// How a cell ended: the content of its reply, or of its error.
nlohmann::json ending_of(const nlohmann::json& said);

// The answer to a question by its function: "complete", "inspect", "is_complete".
nlohmann::json answer_of(std::string_view function, const nlohmann::json& said);

}  // namespace service::jupyter
