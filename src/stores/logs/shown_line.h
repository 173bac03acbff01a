#pragma once

#include <cstdint>
#include <string_view>

#include "stores/logs/chunk_walk.h"
#include "trainyard/control/v1/log_window.pb.h"
#include "trainyard/replica/v1/replica.pb.h"

/// Converts lines to the form of control/v1/log_window.proto. Pure: any thread.
namespace trainyard::logs {

/// Parses a serialized LogLine; one that cannot be read becomes a line that says so.
[[nodiscard]] replica::v1::LogLine ParseLine(std::string_view bytes);

/// @param whole  false: a text longer than kShownTextMax is cut at the end of a character, and further fields
/// with more bytes than that are left out.
[[nodiscard]] control::v1::LogLineShown ShowLine(const WalkedChunk& chunk, const NumberedLine& line,
                                                 bool whole);

}  // namespace trainyard::logs
