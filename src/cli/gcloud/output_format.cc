#include "cli/gcloud/output_format.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <ctime>
#include <utility>

#include "base/wire/time.h"
#include "cli/gcloud/yaml.h"

namespace trainyard::cli {
namespace {

std::string_view Trim(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

std::string Text(const Json& value, int depth) {
  switch (value.kind) {
    case Json::Kind::kNull: return {};
    case Json::Kind::kNumber: return PrintNumber(value.text);
    case Json::Kind::kBool: return value.text == "true" ? "True" : "False";
    case Json::Kind::kString: return value.text;
    case Json::Kind::kArray:
    case Json::Kind::kObject: break;
  }
  if (depth > 0) return PrintCompact(value);
  std::string out;
  for (const Json& child : value.children) {
    if (!out.empty()) out += ';';
    out += (value.kind == Json::Kind::kObject ? child.name + "=" : "") + Text(child, depth + 1);
  }
  return out;
}

/// The value at "a.b[0].c"; null if there is none.
const Json* FindIndexed(const Json& value, std::string_view path) {
  const Json* at = &value;
  while (at != nullptr && !path.empty()) {
    std::size_t end = path.find_first_of(".[");
    if (end != 0) at = FindMember(*at, path.substr(0, end));
    if (end == std::string_view::npos) break;
    bool index = path[end] == '[';
    path.remove_prefix(end + 1);
    if (!index || at == nullptr) continue;
    std::size_t close = path.find(']');
    std::size_t number = 0;
    auto parsed = std::from_chars(path.data(), path.data() + std::min(close, path.size()), number);
    bool good = parsed.ec == std::errc() && close != std::string_view::npos && at->kind == Json::Kind::kArray;
    at = good && number < at->children.size() ? &at->children[number] : nullptr;
    path.remove_prefix(std::min(close == std::string_view::npos ? close : close + 1, path.size()));
    if (path.starts_with('.')) path.remove_prefix(1);
  }
  return at;
}

}  // namespace

Result<OutputFormat> ParseOutputFormat(const std::optional<std::string>& flag) {
  if (!flag || *flag == "default") return OutputFormat{};
  std::string_view text = Trim(*flag);
  if (text == "json") return OutputFormat{.kind = OutputFormat::Kind::kJson};
  if (text == "yaml") return OutputFormat{.kind = OutputFormat::Kind::kYaml};
  if (text == "none" || text == "disable") return OutputFormat{.kind = OutputFormat::Kind::kNone};
  if (text.starts_with("value(") && text.ends_with(')')) {
    OutputFormat format{.kind = OutputFormat::Kind::kValue};
    text = text.substr(6, text.size() - 7);
    for (std::size_t end = 0; end != std::string_view::npos;
         text.remove_prefix(std::min(end + 1, text.size()))) {
      end = text.find(',');
      std::string_view field = Trim(text.substr(0, end));
      if (field.empty() || field.find_first_of("():= ") != std::string_view::npos)
        return std::unexpected(InvalidArgument(
            "",
            "Format value(FIELD,...) takes field names such as jobId or trainingInput.args[0]; "
            "received [" +
                std::string(field) + "]."));
      format.fields.emplace_back(field);
      if (end == std::string_view::npos) break;
    }
    return format;
  }
  return std::unexpected(InvalidArgument(
      "", "Format must be one of default, json, none, value(FIELD,...), yaml; received [" + *flag + "]."));
}

std::string FieldText(const Json& value, std::string_view path) {
  const Json* found = FindIndexed(value, path);
  return found == nullptr ? std::string() : Text(Sorted(*found), 0);
}

std::string PrintResource(const Json& resource, const OutputFormat& format) {
  switch (format.kind) {
    case OutputFormat::Kind::kNone: return {};
    case OutputFormat::Kind::kJson: return PrintIndented(resource) + "\n";
    case OutputFormat::Kind::kDefault:
    case OutputFormat::Kind::kYaml: return PrintYaml(resource);
    case OutputFormat::Kind::kValue: break;
  }
  std::string out;
  for (std::size_t i = 0; i < format.fields.size(); ++i)
    out += (i == 0 ? "" : "\t") + FieldText(resource, format.fields[i]);
  return out + "\n";
}

std::string PrintResources(const std::vector<Json>& resources, const OutputFormat& format) {
  if (format.kind == OutputFormat::Kind::kJson) {
    Json list{.kind = Json::Kind::kArray, .children = resources};
    return PrintIndented(list) + "\n";
  }
  std::string out;
  for (const Json& resource : resources) {
    if (format.kind == OutputFormat::Kind::kYaml) out += "---\n";
    out += PrintResource(resource, format);
  }
  return out;
}

std::string LocalTime(std::string_view rfc3339, const char* format) {
  Result<SysTime> time = wire::ParseTime(rfc3339);
  if (!time) return std::string(rfc3339);
  std::time_t seconds = std::chrono::floor<std::chrono::seconds>(*time).time_since_epoch().count();
  std::tm local{};
  localtime_r(&seconds, &local);
  char text[64];
  return {text, std::strftime(text, sizeof text, format, &local)};
}

}  // namespace trainyard::cli
