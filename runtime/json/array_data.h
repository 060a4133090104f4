#pragma once
// Does the nested list of an ndarray input fit its dtype and shape? What numpy would refuse in the
// child is refused here, where it can be called the caller's mistake. Internal to converter_tagged.

#include <cstdint>
#include <string_view>
#include <vector>

namespace runtime {

// `data` is a value the Converter has written. Null when all is well, otherwise the objection.
const char* objection_to_array(std::string_view dtype, const std::vector<int64_t>& shape,
                               std::string_view data);

}  // namespace runtime
