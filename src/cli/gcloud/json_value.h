#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/wire/json_tree.h"

/// JSON in commands: responses and the job of a request stay trees, so that unknown fields are passed on
/// unchanged, as gcloud does. Pure: any thread.
namespace trainyard::cli {

using Json = wire::JsonValue;

[[nodiscard]] Json JsonString(std::string text);
/// `text` is a valid JSON number.
[[nodiscard]] Json JsonNumber(std::string text);
[[nodiscard]] Json JsonBool(bool value);
[[nodiscard]] Json JsonArray(const std::vector<std::string>& strings);
[[nodiscard]] Json JsonObject(std::initializer_list<std::pair<std::string_view, Json>> members = {});

/// The member at a dotted path ("trainingInput.region"); of several members with one name the last one. Null
/// if there is none.
[[nodiscard]] const Json* FindMember(const Json& object, std::string_view path);
/// The text of the string, number or bool at a path; empty if there is none.
[[nodiscard]] std::string TextAt(const Json& object, std::string_view path);
/// Returns the elements of the list or object at a path; empty if there is none.
[[nodiscard]] const std::vector<Json>& ListAt(const Json& object, std::string_view path);
/// Sets a member at a dotted path. Creates the objects on the path and replaces any other value there.
void SetMember(Json& object, std::string_view path, Json value);

/// Members sorted by name, at every depth; of several with one name the last one stays. gcloud prints and
/// sends this order.
[[nodiscard]] Json Sorted(const Json& value);
/// Without spaces, members sorted.
[[nodiscard]] std::string PrintCompact(const Json& value);
/// As `--format=json`: 2 spaces, members sorted, UTF-8 as it is, no newline at the end.
[[nodiscard]] std::string PrintIndented(const Json& value);

}  // namespace trainyard::cli
