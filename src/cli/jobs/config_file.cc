#include "cli/jobs/config_file.h"

#include <algorithm>
#include <cctype>
#include <string_view>

#include "base/ascii.h"
#include "base/number.h"
#include "base/wire/fit_fields.h"
#include "trainyard/ml/v1/ml.pb.h"

namespace trainyard::cli {

namespace {

std::string ToCamelCase(std::string_view name) {
  std::string camel;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const bool joins = name[i] == '_' && i + 1 < name.size();
    camel += joins ? static_cast<char>(std::toupper(static_cast<unsigned char>(name[++i]))) : name[i];
  }
  return camel;
}

/// The value at a path such as "trainingInput.args[1]"; names may be in camelCase or snake_case. Null: there
/// is none.
const Json* ValueAt(const Json& document, std::string_view path) {
  const Json* value = &document;
  while (!path.empty()) {
    const std::size_t end = std::min(path.find_first_of(".["), path.size());
    const std::string name = ToCamelCase(path.substr(0, end));
    path.remove_prefix(end);
    if (!name.empty()) {
      const auto found = std::ranges::find_if(
          value->children, [&](const Json& member) { return ToCamelCase(member.name) == name; });
      if (found == value->children.end()) return nullptr;
      value = &*found;
    }
    if (path.starts_with('[')) {
      const auto index = LeadingNumber<std::size_t>(path.substr(1));
      if (!index || *index >= value->children.size()) return nullptr;
      value = &value->children[*index];
      path.remove_prefix(std::min(path.find(']') + 1, path.size()));
    }
    if (path.starts_with('.')) path.remove_prefix(1);
  }
  return value;
}

std::string Place(const std::string& file, const Json* value) {
  return value == nullptr || value->line == 0 ? file : file + ":" + std::to_string(value->line);
}

/// The text between two others; empty if they are not there.
std::string_view Between(std::string_view text, std::string_view begin, std::string_view end) {
  const std::size_t from = text.find(begin);
  if (from == std::string_view::npos) return {};
  text.remove_prefix(from + begin.size());
  const std::size_t to = text.find(end);
  return to == std::string_view::npos ? std::string_view() : text.substr(0, to);
}

/// The value that a refusal is about: "Field: region Error: ..." or "... at 'job.training_input.scale_tier'".
/// Source: docs/compatibility.md, "What is refused, and why".
const Json* ValueOf(std::string_view refusal, const Json& document) {
  std::string path(Between(refusal, "Field: ", " Error: "));
  if (path.empty()) {
    path = Between(refusal, " at '", "'");
    if (const auto name = Between(refusal, "Unknown name \"", "\""); !name.empty())
      path += "." + std::string(name);
  }
  if (path.empty()) return nullptr;
  constexpr std::string_view kJob = "job.";
  if (path.starts_with(kJob)) return ValueAt(document, std::string_view(path).substr(kJob.size()));
  return ValueAt(document, "trainingInput." + path);
}

/// "<REGION>", "${REGION}", "{{ region }}", "YOUR-REGION".
bool LooksLikePlaceholder(const Json& value) {
  const std::string lower = ToLower(value.text);
  return (lower.starts_with('<') && lower.ends_with('>')) || lower.contains("${") || lower.contains("{{") ||
         lower.starts_with("your-") || lower.starts_with("your_");
}

}  // namespace

Result<Json> FitConfig(const Json& document, const std::string& file) {
  if (document.kind == Json::Kind::kNull) return Json{};
  if (document.kind != Json::Kind::kObject)
    return std::unexpected(InvalidArgument(
        "", Place(file, &document) + ": a Job belongs here, which is a mapping of field names to values"));
  Result<Json> fitted = wire::FitFields(document, *ml::v1::Job::descriptor());
  if (fitted) return fitted;
  const Error& error = fitted.error();
  return std::unexpected(InvalidArgument(
      "", Place(file, ValueAt(document, error.field)) + ": " + error.field + ": " + error.message));
}

std::string WithConfigLine(std::string refusal, const Json& document, const std::string& file) {
  const Json* value = ValueOf(refusal, document);
  if (value == nullptr || value->line == 0) return refusal;
  refusal += " (" + Place(file, value) + ": " + value->name + ")";
  if (LooksLikePlaceholder(*value))
    refusal += " '" + value->text + "' looks like a placeholder: put your own value there.";
  return refusal;
}

}  // namespace trainyard::cli
