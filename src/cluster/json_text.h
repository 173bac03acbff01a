#pragma once

#include <string>
#include <string_view>

namespace trainyard::cluster {

/// The text as a JSON string, quotes included. Bytes above ASCII are passed on as they are (UTF-8). Pure: any
/// thread.
[[nodiscard]] std::string QuoteJson(std::string_view text);

}  // namespace trainyard::cluster
