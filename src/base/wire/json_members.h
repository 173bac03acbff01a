#pragma once

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// Reads JSON that other programs wrote and that may lack anything: a member that is missing or of another
/// kind counts as empty. Pure: any thread.
namespace trainyard::wire {

/// Empty: the text is not one JSON object (or list).
[[nodiscard]] std::optional<boost::json::object> ParseJsonObject(std::string_view text);
[[nodiscard]] std::optional<boost::json::array> ParseJsonList(std::string_view text);

[[nodiscard]] std::string TextIn(const boost::json::object& object, std::string_view name);
[[nodiscard]] std::int64_t NumberIn(const boost::json::object& object, std::string_view name);
[[nodiscard]] bool FlagIn(const boost::json::object& object, std::string_view name);
[[nodiscard]] const boost::json::object& ObjectIn(const boost::json::object& object, std::string_view name);
[[nodiscard]] const boost::json::array& ListIn(const boost::json::object& object, std::string_view name);
/// The texts in a list; other elements are left out.
[[nodiscard]] std::vector<std::string> TextsIn(const boost::json::object& object, std::string_view name);

}  // namespace trainyard::wire
