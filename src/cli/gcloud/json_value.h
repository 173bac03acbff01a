#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "wire/json_tree.h"

/// JSON as the commands handle it: the server's answers and the job of a request stay trees, so that what
/// this program does not know is passed on unchanged, as gcloud does. Pure: any thread.
namespace trainyard::cli {

using Json = wire::JsonValue;

[[nodiscard]] Json JsonString(std::string text);
/// `text` is a JSON number already.
[[nodiscard]] Json JsonNumber(std::string text);
[[nodiscard]] Json JsonBool(bool value);
[[nodiscard]] Json JsonArray(const std::vector<std::string>& strings);
[[nodiscard]] Json JsonObject();

/// The member at a dotted path ("trainingInput.region"); of doubled members the last one. Null if there is
/// none.
[[nodiscard]] const Json* FindMember(const Json& object, std::string_view path);
/// The text of the string, number or bool at a path; empty if there is none.
[[nodiscard]] std::string TextAt(const Json& object, std::string_view path);
/// Puts a member at a dotted path, making objects on the way; what was in the way is replaced.
void SetMember(Json& object, std::string_view path, Json value);

/// Members by name, at every depth; of doubled ones the last stays. gcloud's order in everything that it
/// prints or sends.
[[nodiscard]] Json Sorted(const Json& value);
/// Without spaces, members sorted.
[[nodiscard]] std::string PrintCompact(const Json& value);
/// As `--format=json`: 2 spaces, members sorted, UTF-8 as it is, no newline at the end.
[[nodiscard]] std::string PrintIndented(const Json& value);

}  // namespace trainyard::cli
