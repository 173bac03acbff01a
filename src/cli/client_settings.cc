#include "cli/client_settings.h"

#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <utility>

#include "base/ascii.h"
#include "base/async/file.h"
#include "cli/auth/logins.h"
#include "cli/gcloud/json_value.h"

namespace trainyard::cli {
namespace {

constexpr std::size_t kSettingsFileMax = std::size_t{1} << 20;

std::string Upper(std::string_view text) {
  std::string out;
  for (char c : text) out += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return out;
}

int NumberAt(const Json& object, std::string_view path) {
  return static_cast<int>(std::strtol(TextAt(object, path).c_str(), nullptr, 10));
}

std::map<std::string, std::string> TextsAt(const Json& object, std::string_view path) {
  std::map<std::string, std::string> texts;
  const Json* found = FindMember(object, path);
  if (found == nullptr) return texts;
  for (const Json& member : found->children) texts[member.name] = member.text;
  return texts;
}

std::string AccountName(uid_t uid) {
  const passwd* entry = ::getpwuid(uid);
  return entry != nullptr ? entry->pw_name : std::to_string(uid);
}

/// As packaging/config.yaml has it.
constexpr const char* kServiceDataDir = "/var/lib/trainyard";

std::string OwnDataDir(const SettingSources& sources) {
  if (auto home = sources.variable("XDG_DATA_HOME"); home && home->starts_with('/'))
    return *home + "/trainyard";
  return sources.variable("HOME").value_or("/root") + "/.local/share/trainyard";
}

/// The owner of the outermost folder on the path that we may not enter, or of the file that we may not read.
std::string OwnerInTheWay(const std::string& path) {
  if (::access(path.c_str(), R_OK) == 0 || errno != EACCES) return {};
  for (std::size_t end = path.find('/', 1); end != std::string::npos; end = path.find('/', end + 1)) {
    const std::string folder = path.substr(0, end);
    struct stat found{};
    if (::access(folder.c_str(), X_OK) != 0 && ::stat(folder.c_str(), &found) == 0)
      return AccountName(found.st_uid);
  }
  struct stat found{};
  return ::stat(path.c_str(), &found) == 0 ? AccountName(found.st_uid) : std::string();
}

}  // namespace

SettingSources ProcessSettingSources() {
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
  return {variable, read_file, OwnerInTheWay};
}

std::string GcloudFolder(const SettingSources& sources) {
  if (auto folder = sources.variable("CLOUDSDK_CONFIG")) return *folder;
  return sources.variable("HOME").value_or("") + "/.config/gcloud";
}

std::string DefaultDataDir(const SettingSources& sources) {
  if (auto dir = sources.variable("TRAINYARD_DATA")) return *dir;
  const std::string own = OwnDataDir(sources);
  return !ReadServerNote(sources, own) && ReadServerNote(sources, kServiceDataDir)
             ? std::string(kServiceDataDir)
             : own;
}

std::optional<ServerNote> ReadServerNote(const SettingSources& sources, const std::string& data_dir) {
  std::optional<std::string> text = sources.read_file(data_dir + "/run/server.json");
  if (!text) return std::nullopt;
  Result<Json> json = wire::ParseJsonTree(*text);
  if (!json || TextAt(*json, "url").empty()) return std::nullopt;
  return ServerNote{.url = TextAt(*json, "url"),
                    .tls_url = TextAt(*json, "tls_url"),
                    .ca_file = TextAt(*json, "ca_file"),
                    .project = TextAt(*json, "project"),
                    .pid = std::strtol(TextAt(*json, "pid").c_str(), nullptr, 10),
                    .auth = TextAt(*json, "auth") == "true",
                    .bucket_dirs = TextsAt(*json, "bucket_dirs"),
                    .lacking = TextAt(*json, "lacking"),
                    .workstation = {.address = TextAt(*json, "workstation.address"),
                                    .tls_port = NumberAt(*json, "workstation.tls_port"),
                                    .plain_port = NumberAt(*json, "workstation.plain_port"),
                                    .ca_bundle = TextAt(*json, "workstation.ca_bundle")}};
}

std::string WhyNoteIsForbidden(const SettingSources& sources, const std::string& data_dir) {
  if (sources.forbidden_by == nullptr) return {};
  const std::string owner = sources.forbidden_by(data_dir + "/run/server.json");
  if (owner.empty()) return {};
  return "The data directory " + data_dir + " is " + owner +
         "'s, and this account may not read it. A server answers only its own account and root: run this "
         "as " +
         owner + ", or start the server with --allow-local-users and set --server or TRAINYARD_SERVER.";
}

ClientSetting FindServer(const SettingSources& sources, const std::optional<std::string>& flag) {
  if (flag) return {*flag, "--server"};
  if (auto url = sources.variable("TRAINYARD_SERVER")) return {*url, "TRAINYARD_SERVER"};
  const std::string data_dir = DefaultDataDir(sources);
  const auto note = ReadServerNote(sources, data_dir);
  // Whoever may read the service's directory (root) did not choose its server, unless by --data, but did log
  // in to the other.
  const bool is_chosen = data_dir != kServiceDataDir || sources.variable("TRAINYARD_DATA").has_value();
  if (note && is_chosen) return {note->url, data_dir + "/run/server.json"};
  if (const ServerLogins kept = ReadLogins(sources); !kept.active.empty())
    return {kept.active, "trainyard auth login"};
  if (note) return {note->url, data_dir + "/run/server.json"};
  return {"http://127.0.0.1:8470", "default"};
}

ClientSetting FindProject(const SettingSources& sources, const std::optional<std::string>& flag,
                          const std::optional<std::string>& configuration, const std::string& server) {
  if (flag) return {*flag, "--project"};
  if (auto project = sources.variable("CLOUDSDK_CORE_PROJECT")) return {*project, "CLOUDSDK_CORE_PROJECT"};
  const ServerLogins kept = ReadLogins(sources);
  const ServerLogin* login = kept.Find(server);
  if (login != nullptr && !login->project.empty() && !configuration)
    return {login->project, "trainyard auth login"};
  if (auto property = FindProperty(sources, "core", "project", configuration)) return *property;
  if (auto project = sources.variable("GOOGLE_CLOUD_PROJECT")) return {*project, "GOOGLE_CLOUD_PROJECT"};
  std::string data_dir = DefaultDataDir(sources);
  if (auto note = ReadServerNote(sources, data_dir); note && !note->project.empty())
    return {note->project, data_dir + "/run/server.json"};
  return {"trainyard", "default"};
}

std::optional<ClientSetting> FindProperty(const SettingSources& sources, std::string_view section,
                                          std::string_view name,
                                          const std::optional<std::string>& configuration) {
  std::string variable = "CLOUDSDK_" + Upper(section) + "_" + Upper(name);
  if (auto value = sources.variable(variable.c_str())) return ClientSetting{*value, variable};
  std::string folder = GcloudFolder(sources);
  std::string active = configuration.value_or("");
  if (active.empty()) active = sources.variable("CLOUDSDK_ACTIVE_CONFIG_NAME").value_or("");
  if (active.empty()) active = TrimSpace(sources.read_file(folder + "/active_config").value_or("default"));
  std::string path = folder + "/configurations/config_" + active;
  if (auto text = sources.read_file(path))
    if (auto value = IniValue(*text, section, name)) return ClientSetting{*value, path};
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
