#include "cli/auth/logins.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "base/async/file.h"
#include "cli/gcloud/json_value.h"

namespace trainyard::cli {
namespace {

constexpr mode_t kOwnersFile = 0600;

ServerLogin ReadLogin(const Json& json) {
  return {.server = TextAt(json, "server"),
          .ca_file = TextAt(json, "ca_file"),
          .principal = TextAt(json, "principal"),
          .token = TextAt(json, "token"),
          .project = TextAt(json, "project")};
}

Json PrintLogin(const ServerLogin& login) {
  Json json = JsonObject({{"server", JsonString(login.server)}});
  if (!login.ca_file.empty()) SetMember(json, "ca_file", JsonString(login.ca_file));
  SetMember(json, "principal", JsonString(login.principal));
  SetMember(json, "token", JsonString(login.token));
  if (!login.project.empty()) SetMember(json, "project", JsonString(login.project));
  return json;
}

}  // namespace

const ServerLogin* ServerLogins::Find(std::string_view server) const {
  const auto found = std::ranges::find(logins, PlainServer(server), &ServerLogin::server);
  return found == logins.end() ? nullptr : &*found;
}

std::string PlainServer(std::string_view url) {
  while (url.ends_with('/') && !url.starts_with("unix:")) url.remove_suffix(1);
  return std::string(url);
}

std::string LoginsPath(const SettingSources& sources) {
  const auto configured = sources.variable("XDG_CONFIG_HOME");
  const std::string folder = configured && configured->starts_with('/')
                                 ? *configured
                                 : sources.variable("HOME").value_or("/root") + "/.config";
  return folder + "/trainyard/credentials.json";
}

ServerLogins ReadLogins(const SettingSources& sources) {
  ServerLogins kept;
  const std::optional<std::string> text = sources.read_file(LoginsPath(sources));
  if (!text) return kept;
  const Result<Json> json = wire::ParseJsonTree(*text);
  if (!json) return kept;
  kept.active = TextAt(*json, "active");
  const Json* logins = FindMember(*json, "logins");
  if (logins == nullptr) return kept;
  for (const Json& login : logins->children) kept.logins.push_back(ReadLogin(login));
  std::erase_if(kept.logins,
                [](const ServerLogin& login) { return login.server.empty() || login.token.empty(); });
  return kept;
}

Status WriteLogins(const SettingSources& sources, const ServerLogins& logins) {
  Json list = JsonArray({});
  for (const ServerLogin& login : logins.logins) list.children.push_back(PrintLogin(login));
  Json json = JsonObject({{"active", JsonString(logins.active)}, {"logins", std::move(list)}});
  const std::filesystem::path path = LoginsPath(sources);
  TY_RETURN_IF_ERROR(MakePrivateFolder(path.parent_path()));
  return WriteFileAtomically(path, PrintIndented(json) + "\n", kOwnersFile);
}

ServerLogins WithLogin(ServerLogins logins, ServerLogin login) {
  logins.active = login.server;
  std::erase_if(logins.logins, [&](const ServerLogin& one) { return one.server == login.server; });
  logins.logins.push_back(std::move(login));
  return logins;
}

ServerLogins WithoutLogin(ServerLogins logins, std::string_view server) {
  const std::string plain = PlainServer(server);
  std::erase_if(logins.logins, [&](const ServerLogin& one) { return one.server == plain; });
  if (logins.active == plain) logins.active = logins.logins.empty() ? "" : logins.logins.back().server;
  return logins;
}

}  // namespace trainyard::cli
