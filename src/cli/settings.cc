#include "cli/settings.h"

#include <cctype>
#include <cstdlib>
#include <utility>

#include "async/file.h"
#include "base/ascii.h"
#include "cli/gcloud/json_value.h"

namespace trainyard::cli {
namespace {

constexpr std::size_t kSettingsFileMax = std::size_t{1} << 20;

std::string Upper(std::string_view text) {
  std::string out;
  for (char c : text) out += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return out;
}

std::string GcloudFolder(const Surroundings& surroundings) {
  if (auto folder = surroundings.variable("CLOUDSDK_CONFIG")) return *folder;
  return surroundings.variable("HOME").value_or("") + "/.config/gcloud";
}

}  // namespace

Surroundings ProcessSurroundings() {
  auto variable = [](const char* name) -> std::optional<std::string> {
    const char* value = std::getenv(name);
    if (value == nullptr || *value == '\0') return std::nullopt;
    return value;
  };
  auto read_file = [](const std::string& path) -> std::optional<std::string> {
    Result<std::string> text = ReadFile(path, kSettingsFileMax);
    if (!text) return std::nullopt;
    return *std::move(text);
  };
  return {variable, read_file};
}

std::string DefaultDataDir(const Surroundings& surroundings) {
  if (auto dir = surroundings.variable("TRAINYARD_DATA")) return *dir;
  if (auto home = surroundings.variable("XDG_DATA_HOME"); home && home->starts_with('/'))
    return *home + "/trainyard";
  return surroundings.variable("HOME").value_or("/root") + "/.local/share/trainyard";
}

std::optional<ServerNote> ReadServerNote(const Surroundings& surroundings, const std::string& data_dir) {
  std::optional<std::string> text = surroundings.read_file(data_dir + "/run/server.json");
  if (!text) return std::nullopt;
  Result<Json> json = wire::ParseJsonTree(*text);
  if (!json || TextAt(*json, "url").empty()) return std::nullopt;
  return ServerNote{.url = TextAt(*json, "url"),
                    .tls_url = TextAt(*json, "tls_url"),
                    .ca_file = TextAt(*json, "ca_file"),
                    .project = TextAt(*json, "project"),
                    .pid = std::strtol(TextAt(*json, "pid").c_str(), nullptr, 10)};
}

Setting FindServer(const Surroundings& surroundings, const std::optional<std::string>& flag) {
  if (flag) return {*flag, "--server"};
  if (auto url = surroundings.variable("TRAINYARD_SERVER")) return {*url, "TRAINYARD_SERVER"};
  std::string data_dir = DefaultDataDir(surroundings);
  if (auto note = ReadServerNote(surroundings, data_dir)) return {note->url, data_dir + "/run/server.json"};
  return {"http://127.0.0.1:8470", "default"};
}

Setting FindProject(const Surroundings& surroundings, const std::optional<std::string>& flag,
                    const std::optional<std::string>& configuration) {
  if (flag) return {*flag, "--project"};
  if (auto property = FindProperty(surroundings, "core", "project", configuration)) return *property;
  if (auto project = surroundings.variable("GOOGLE_CLOUD_PROJECT")) return {*project, "GOOGLE_CLOUD_PROJECT"};
  std::string data_dir = DefaultDataDir(surroundings);
  if (auto note = ReadServerNote(surroundings, data_dir); note && !note->project.empty())
    return {note->project, data_dir + "/run/server.json"};
  return {"trainyard", "default"};
}

std::optional<Setting> FindProperty(const Surroundings& surroundings, std::string_view section,
                                    std::string_view name, const std::optional<std::string>& configuration) {
  std::string variable = "CLOUDSDK_" + Upper(section) + "_" + Upper(name);
  if (auto value = surroundings.variable(variable.c_str())) return Setting{*value, variable};
  std::string folder = GcloudFolder(surroundings);
  std::string active = configuration.value_or("");
  if (active.empty()) active = surroundings.variable("CLOUDSDK_ACTIVE_CONFIG_NAME").value_or("");
  if (active.empty())
    active = TrimSpace(surroundings.read_file(folder + "/active_config").value_or("default"));
  std::string path = folder + "/configurations/config_" + active;
  if (auto text = surroundings.read_file(path))
    if (auto value = IniValue(*text, section, name)) return Setting{*value, path};
  return std::nullopt;
}

std::optional<std::string> IniValue(std::string_view text, std::string_view section, std::string_view name) {
  std::string_view current;
  std::optional<std::string> found;
  while (!text.empty()) {
    std::size_t end = text.find('\n');
    std::string_view line = TrimSpace(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (line.empty() || line.front() == '#' || line.front() == ';') continue;
    if (line.front() == '[' && line.back() == ']') {
      current = line.substr(1, line.size() - 2);
      continue;
    }
    std::size_t equals = line.find_first_of("=:");
    if (current != section || equals == std::string_view::npos || TrimSpace(line.substr(0, equals)) != name)
      continue;
    std::string_view value = TrimSpace(line.substr(equals + 1));
    if (!value.empty()) found = std::string(value);
  }
  return found;
}

}  // namespace trainyard::cli
