#pragma once

#include <cstdint>
#include <string_view>

#include "stores/logs/chunk_walk.h"
#include "trainyard/control/v1/log_window.pb.h"
#include "trainyard/replica/v1/replica.pb.h"

/// Lines as control/v1/log_window.proto shows them. Pure: any thread.
namespace trainyard::logs {

/// A serialized LogLine as a message; one that cannot be read becomes a line that says so.
[[nodiscard]] replica::v1::LogLine ParseLine(std::string_view bytes);

/// @param whole  false: a long text is cut at kShownTextMax, at the end of a character; further fields of
/// more bytes than that are left out.
[[nodiscard]] control::v1::LogLineShown ShowLine(const WalkedChunk& chunk, const NumberedLine& line,
                                                 bool whole);

}  // namespace trainyard::logs
