#include "programs/environment/runtime_version.h"

#include <algorithm>
#include <boost/json.hpp>
#include <charconv>
#include <cstddef>
#include <system_error>

#include "programs/environment/content_hash.h"

namespace trainyard::environment {

namespace {

namespace json = boost::json;

constexpr std::size_t kVersionLengthMax = 64;

Error Bad(std::string message) { return InvalidArgument({}, std::move(message)); }

bool IsFolderName(std::string_view text) {
  constexpr std::string_view kAllowed = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-";
  return !text.empty() && text.size() <= kVersionLengthMax && text.front() != '.' && text.front() != '-' &&
         text.find_first_not_of(kAllowed) == std::string_view::npos;
}

Result<std::string> Text(std::string_view name, const json::value& value) {
  const json::string* text = value.if_string();
  if (text == nullptr) return std::unexpected(Bad("\"" + std::string(name) + "\" must be a string"));
  return std::string(*text);
}

Result<std::vector<std::string>> Texts(std::string_view name, const json::value& value) {
  const json::array* list = value.if_array();
  std::vector<std::string> texts;
  if (list == nullptr) return std::unexpected(Bad("\"" + std::string(name) + "\" must be a list of strings"));
  for (const json::value& item : *list) {
    TY_TRY(std::string text, Text(name, item));
    if (text.empty() || text.front() == '-' || text.find_first_of("\r\n") != std::string::npos)
      return std::unexpected(
          Bad("\"" + std::string(name) + "\" has an entry that is not one: '" + text + "'"));
    texts.push_back(std::move(text));
  }
  return texts;
}

/// Whether the text is a relative path such as "nvidia/cublas/lib", made of safe names.
bool IsFolderBelow(std::string_view text) {
  while (true) {
    const std::size_t slash = text.find('/');
    if (!IsFolderName(text.substr(0, slash))) return false;
    if (slash == std::string_view::npos) return true;
    text.remove_prefix(slash + 1);
  }
}

Result<RuntimeVersion::Kind> ParseKind(const json::value& value) {
  TY_TRY(const std::string text, Text("kind", value));
  if (text == "original") return RuntimeVersion::Kind::kOriginal;
  if (text == "trainyard") return RuntimeVersion::Kind::kTrainyard;
  if (text == "operator") return RuntimeVersion::Kind::kOperator;
  if (text == "tool") return RuntimeVersion::Kind::kTool;
  return std::unexpected(Bad("\"kind\" must be original, trainyard, operator or tool, not '" + text + "'"));
}

/// An object whose names and values may be parts of file names.
Result<std::map<std::string, std::string>> Pairs(std::string_view member, const json::value& value) {
  const json::object* object = value.if_object();
  const std::string quoted = "\"" + std::string(member) + "\"";
  if (object == nullptr) return std::unexpected(Bad(quoted + " must be an object of strings"));
  std::map<std::string, std::string> pairs;
  for (const auto& [name, item] : *object) {
    TY_TRY(std::string text, Text(member, item));
    if (!IsFolderName(std::string_view(name)) || !IsFolderName(text))
      return std::unexpected(Bad(quoted + " has an entry that is not one: '" + std::string(name) + "'"));
    pairs.emplace(name, std::move(text));
  }
  return pairs;
}

Result<std::string> FolderName(std::string_view member, const json::value& value) {
  TY_TRY(std::string text, Text(member, value));
  if (!IsFolderName(text)) return std::unexpected(Bad("\"" + std::string(member) + "\" must be a name"));
  return text;
}

Result<std::vector<std::string>> FolderNames(std::string_view member, const json::value& value) {
  TY_TRY(std::vector<std::string> texts, Texts(member, value));
  for (const std::string& text : texts)
    if (!IsFolderName(text)) return std::unexpected(Bad("\"" + std::string(member) + "\" must be names"));
  return texts;
}

Status SetMember(RuntimeVersion& runtime, std::string_view name, const json::value& value) {
  if (name == "version") {
    TY_TRY(runtime.version, Text(name, value));
  } else if (name == "kind") {
    TY_TRY(runtime.kind, ParseKind(value));
  } else if (name == "pythons") {
    TY_TRY(runtime.pythons, Texts(name, value));
  } else if (name == "released") {
    TY_TRY(runtime.released, Text(name, value));
  } else if (name == "notes") {
    TY_TRY(runtime.notes, Text(name, value));
  } else if (name == "packages") {
    TY_TRY(runtime.packages, Texts(name, value));
  } else if (name == "provides") {
    TY_TRY(runtime.provides, Pairs(name, value));
  } else if (name == "gpu_variant") {
    TY_TRY(runtime.gpu_variant, FolderName(name, value));
  } else if (name == "tools") {
    TY_TRY(runtime.tools, FolderNames(name, value));
  } else if (name == "library_folders") {
    TY_TRY(runtime.library_folders, Texts(name, value));
    for (const std::string& folder : runtime.library_folders)
      if (!IsFolderBelow(folder))
        return std::unexpected(Bad("\"library_folders\" must be below site-packages"));
  } else if (name == "without_cuda") {
    TY_TRY(runtime.without_cuda, Text(name, value));
    if (!IsFolderBelow(runtime.without_cuda))
      return std::unexpected(Bad("\"without_cuda\" must be below site-packages"));
  } else if (name == "images") {
    TY_TRY(runtime.images, Texts(name, value));
  } else if (name == "system_modules") {
    TY_TRY(runtime.system_modules, Pairs(name, value));
  } else if (name == "locked") {
    if (!value.is_bool()) return std::unexpected(Bad("\"locked\" must be true or false"));
    runtime.locked = value.get_bool();
  } else {
    return std::unexpected(Bad("unknown name \"" + std::string(name) + "\""));
  }
  return {};
}

}  // namespace

Result<RuntimeVersion> ParseRuntimeVersion(std::string_view text) {
  std::error_code error;
  const json::value value = json::parse(json::string_view(text.data(), text.size()), error);
  if (error) return std::unexpected(Bad("not JSON: " + error.message()));
  const json::object* object = value.if_object();
  if (object == nullptr) return std::unexpected(Bad("not a JSON object"));
  RuntimeVersion runtime;
  for (const auto& [name, member] : *object)
    TY_RETURN_IF_ERROR(SetMember(runtime, std::string_view(name), member));
  if (!IsFolderName(runtime.version))
    return std::unexpected(Bad("\"version\" must be given, and of letters, digits, '.', '_' and '-'"));
  if (runtime.pythons.empty()) return std::unexpected(Bad("\"pythons\" must name at least one version"));
  for (const std::string& python : runtime.pythons)
    if (!ParseMajorMinor(python))
      return std::unexpected(Bad("\"pythons\" must be like 3.11, not '" + python + "'"));
  return runtime;
}

std::string RuntimeFolder(const RuntimeVersion& runtime) {
  NameHash hash;
  hash.Add("runtime 1").Add(runtime.version).Add(runtime.locked ? "locked" : "resolved");
  if (NeedsPip(runtime)) hash.Add("and pip");
  for (const std::string& python : runtime.pythons) hash.Add("python").Add(python);
  for (const std::string& package : runtime.packages) hash.Add("package").Add(package);
  for (const auto& [name, version] : runtime.provides) hash.Add("provides").Add(name).Add(version);
  for (const auto& [name, package] : runtime.system_modules) hash.Add("system").Add(name);
  for (const std::string& tool : runtime.tools) hash.Add("tool").Add(tool);
  if (!runtime.without_cuda.empty()) hash.Add("without cuda").Add(runtime.without_cuda);
  return runtime.version + "-" + hash.Hex().substr(0, kHashDigits);
}

std::optional<std::pair<int, int>> ParseMajorMinor(std::string_view text) {
  std::pair<int, int> number;
  const char* end = text.data() + text.size();
  const auto major = std::from_chars(text.data(), end, number.first);
  if (major.ec != std::errc{} || major.ptr == end || *major.ptr != '.') return std::nullopt;
  const auto minor = std::from_chars(major.ptr + 1, end, number.second);
  if (minor.ec != std::errc{} || minor.ptr != end || number.first < 0 || number.second < 0)
    return std::nullopt;
  return number;
}

bool NeedsPip(const RuntimeVersion& runtime) {
  return runtime.kind != RuntimeVersion::Kind::kTool && PinnedVersion(runtime, "pip").empty() &&
         std::ranges::find(runtime.packages, "pip") == runtime.packages.end();
}

std::string PinnedVersion(const RuntimeVersion& runtime, std::string_view package) {
  for (const std::string& requirement : runtime.packages) {
    const std::size_t pin = requirement.find("==");
    if (pin != std::string::npos && std::string_view(requirement).substr(0, pin) == package)
      return requirement.substr(pin + 2);
  }
  const auto provided = runtime.provides.find(std::string(package));
  return provided == runtime.provides.end() ? std::string() : provided->second;
}

std::map<std::string, std::string> NamesOfTensorFlow(const RuntimeVersion& runtime) {
  const std::string version = PinnedVersion(runtime, "tensorflow");
  std::map<std::string, std::string> names;
  for (const char* name : {"tensorflow-cpu", "tensorflow-gpu", "tf-nightly"})
    if (!version.empty() && PinnedVersion(runtime, name).empty()) names.emplace(name, version);
  return names;
}

}  // namespace trainyard::environment
