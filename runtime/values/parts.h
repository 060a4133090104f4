#pragma once
// Parts: bytes that stand raw in a stream of lines, in front of the line that they belong to, where
// base64 would cost time and memory. A line `{"parts":[3,5]}` announces them; so many bytes follow
// its newline, and then comes the line of JSON, in which `{"$type":"bytes","part":0}` is the first
// of them. Sizes come from strangers, so they are bounded before anything is read. Pure.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace runtime {

using Parts = std::vector<std::string>;

inline constexpr uint64_t kMaxPartsBytes = uint64_t{1} << 30;  // of one line, together
inline constexpr size_t kMaxParts = 4096;                      // of one line
// Bytes of a value that are at least so long leave as a part: below, a line of its own costs more
// than base64.
inline constexpr size_t kLeastPart = size_t{64} << 10;

// The sizes that a line announces, in bytes; nothing: it is some other line. A line may announce
// more than the bounds above allow.
std::optional<std::vector<uint64_t>> announced_parts(std::string_view line);
// All of them together, in bytes; UINT64_MAX where the sum does not fit.
uint64_t total_of(std::span<const uint64_t> sizes);
// Nothing where parts of these sizes may come, else the reason why they may not.
std::optional<std::string> objection_to_parts(std::span<const uint64_t> sizes);

// Appends the announcement, with its newline.
void append_announcement(std::span<const std::string_view> parts, std::string& out);

}  // namespace runtime
